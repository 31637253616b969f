// The material library. A value that a work states is given as it stands there, in SI units; what was
// derived from one, or chosen, is said to be. Poisson's ratios of tissues and gels are chosen: they are
// nearly incompressible, and 0.47 is as near to 1/2 as is solved without much more work.
#include "sinew/material.h"

static const sn_library_material LIBRARY[] = {
    {"flesh", "{\"model\": \"stable-neo-hookean\", \"young\": 12000, \"poisson\": 0.47}", 1060,
     "the default; chosen, within what is measured of limbs as a whole: softer than muscle, "
     "stiffer "
     "than fat"},
    {"muscle", "{\"model\": \"stable-neo-hookean\", \"young\": 40000, \"poisson\": 0.47}", 1050,
     "chosen between the moduli across (22.4 kPa) and along (447 kPa) the fibres that Morrow, "
     "Donahue, "
     "Odegard and Kaufman 2010 measured in tension of rabbit muscle; density ICRU report 44"},
    {"facial-muscle",
     "{\"model\": \"mooney-rivlin\", \"c10\": 2500, \"c01\": 1175, \"poisson\": 0.47}", 1050,
     "Wu et al.: c10 2.5 kPa, c01 1.175 kPa in a finite element model of 20 muscles of a face, as "
     "listed "
     "by the review doi 10.1155/2018/7631818 (table 2); density ICRU report 44"},
    {"relaxed-muscle", "{\"model\": \"neo-hookean\", \"mu\": 5500, \"lambda\": 86000}", 1050,
     "Affagard et al.: neo-Hookean C10 of 1.75 to 3.75 kPa, hence mu 3.5 to 7.5 kPa, of thigh "
     "muscles in a "
     "living person by ultrasound, as listed by the review doi 10.1155/2018/7631818 (table 2); the "
     "middle; "
     "density ICRU report 44"},
    {"animation-muscle",
     "{\"model\": \"mooney-rivlin\", \"c10\": 60000, \"c01\": 20000, \"poisson\": 0.47}", 1050,
     "c10 60 kPa, c01 20 kPa: defaults of the muscles of a face in the public PhysBAM library, of "
     "the group of Sifakis, Neverov and Fedkiw 2005; their fibres, as those of `muscles`: 300 kPa, "
     "0.05 (e^(6.6 s) - 1) up to 1.4, Blemker, Pinsky and Delp 2005. Lee, Sifakis and Terzopoulos "
     "2009 go on from there; their own table was not at hand. Poisson's ratio chosen; density "
     "ICRU report 44"},
    {"fat",
     "{\"model\": \"biphasic\", \"young\": 3250, \"poisson\": 0.47, \"compressed\": 0.7, "
     "\"stretched\": "
     "1.3, \"stiffening\": 10}",
     950,
     "Samani, Zubovits and Plewes 2007: 3.25 kPa, indentation of normal fat of the human breast; "
     "the "
     "stiffening is chosen; density ICRU report 44"},
    {"skin",
     "{\"model\": \"biphasic\", \"young\": 420000, \"poisson\": 0.47, \"compressed\": 0.5, "
     "\"stretched\": "
     "1.3, \"stiffening\": 10}",
     1090,
     "Agache, Monneur, Leveque and De Rigal 1980: 0.42 MPa below, 0.85 MPa above the age of 30, "
     "torsion of "
     "human skin on the body; the stiffening is chosen; density ICRU report 46"},
    {"tendon", "{\"model\": \"corotated\", \"young\": 1.2e9, \"poisson\": 0.45}", 1120,
     "Maganaris and Paul 1999: 1.2 GPa, human tibialis anterior tendon along its fibres, by "
     "ultrasound; "
     "far softer across them, which this law does not know; density Ker 1981"},
    {"ligament", "{\"model\": \"corotated\", \"young\": 3.32e8, \"poisson\": 0.45}", 1120,
     "Quapp and Weiss 1998: 332 MPa, tension of human medial collateral ligament along its fibres "
     "(11 MPa "
     "across, which this law does not know); density taken from tendon"},
    {"cartilage", "{\"model\": \"neo-hookean\", \"young\": 684000, \"poisson\": 0.1}", 1100,
     "Athanasiou et al. 1991: aggregate modulus 0.70 MPa and Poisson's ratio 0.10 in equilibrium, "
     "indentation of human femoral cartilage; Young's modulus derived; density ICRU report 46"},
    {"heart", "{\"model\": \"stable-neo-hookean\", \"young\": 18000, \"poisson\": 0.47}", 1060,
     "Berry et al. 2006: 18 kPa, rat heart muscle at rest, atomic force microscopy; density ICRU "
     "report 46"},
    {"liver", "{\"model\": \"stable-neo-hookean\", \"mu\": 1800, \"lambda\": 28200}", 1060,
     "Palmeri et al. 2008: shear modulus 1.8 kPa, human liver on the body, by ultrasound, with its "
     "density "
     "as listed in doi 10.1088/1361-6560/ab5010 (table 1)"},
    {"brain", "{\"model\": \"neo-hookean\", \"mu\": 842, \"lambda\": 13200}", 1040,
     "Miller and Chinzei 2002: shear modulus 842 Pa, swine brain in tension, of a law of Ogden's "
     "that "
     "softens more in tension than this one; density ICRU report 44"},
    {"gelatine", "{\"model\": \"neo-hookean\", \"young\": 4340, \"poisson\": 0.47}", 1010,
     "Bonavia 2025 (arXiv 2512.20502): 4.34 kPa at once, compression of gelatine of 20 parts of "
     "water to "
     "one; density chosen"},
    {"ballistic-gelatine", "{\"model\": \"neo-hookean\", \"young\": 18000, \"poisson\": 0.47}",
     1030,
     "ten per cent by mass: derived as 18 kPa from the power law between the ends that Bonavia "
     "2025 (arXiv "
     "2512.20502) measured, 277 kPa at 2 parts of water to one and 4.34 kPa at 20; density chosen"},
    {"jelly", "{\"model\": \"neo-hookean\", \"mu\": 400, \"lambda\": 6270}", 1100,
     "Nielsen, Marr and Hvidt 2001: shear modulus 379 to 429 Pa of the pectin gel that sags 23.5 "
     "per cent "
     "in the standard test of jam; density chosen"},
    {"silicone", "{\"model\": \"neo-hookean\", \"mu\": 39400, \"lambda\": 617000}", 1070,
     "Ecoflex 00-30, the maker's data sheet (Smooth-On): 10 psi at twice the length, specific "
     "gravity 1.07; "
     "mu derived by the incompressible law, P = mu (2 - 1/4)"},
    {"rubber", "{\"model\": \"neo-hookean\", \"mu\": 383000, \"lambda\": 6.0e6}", 930,
     "Treloar 1944: tension of vulcanised natural rubber; secant mu at a stretch of 1.24, good to "
     "3; "
     "density of natural rubber"},
    {"foam", "{\"model\": \"stable-neo-hookean\", \"young\": 28000, \"poisson\": 0.33}", 30,
     "Gibson and Ashby 1997: E = 45 MPa (density / 1200)^2 and nu = 1/3 of flexible open-cell "
     "polyurethane, derived for 30 kg/m3"},
};

const sn_library_material* sn_library(uint32_t* count) {
  *count = sizeof LIBRARY / sizeof *LIBRARY;
  return LIBRARY;
}

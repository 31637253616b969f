// Which benchmarks there are.
#include "bench.h"

const bench BENCHES[] = {
    {"machine", "what the processor can do at most: bandwidth and fused multiply-adds",
     "The limits that the other figures are compared with, on one core and on all, in this run.\n"
     "  triad_gb_per_s   a[i] = b[i] + s c[i] on arrays far larger than the caches, 24 bytes each\n"
     "  fma_gflops       independent fused multiply-adds in double precision, two operations each",
     bench_machine},
    {"apply", "product with the stiffness, as CG does it, on the finest level",
     "A cube that fits into the caches and one that does not.\n"
     "  elements_per_s_core   elements gone through a second and core\n"
     "  gb_per_s              bytes that the arrays hold, once for each use\n"
     "  share_of_limit        of what the triad reaches on as many bytes and threads",
     bench_apply},
    {"polar", "polar decompositions: linearising every element at a deformed state",
     "As `apply`: elements_per_s_core, gb_per_s, share_of_limit.", bench_polar},
    {"mgpcg", "conjugate gradients with multigrid, to a relative residual of 1e-6",
     "  element_iterations_per_s_core   elements x iterations a second and core\n"
     "  iterations, seconds             to 1e-6, set-up left out\n"
     "  gb_per_s                        all that the library holds, once an iteration\n"
     "  share_of_limit                  of what the triad reaches on as many bytes and threads\n"
     "  bytes_per_element               the most held at once, set-up included\n"
     "  held_bytes_per_element          held while solving",
     bench_mgpcg},
    {"setup", "from triangles to a state that is ready to solve",
     "  elements_per_s        octree, numbering, coarser levels and solver, all threads\n"
     "  elements_per_s_core   the same over the threads\n"
     "  gb_per_s              bytes of the result, written once\n"
     "  share_of_limit        of what the triad reaches on as many bytes and threads",
     bench_setup},
    {"threads", "the same work on 1, 2 and up to all cores",
     "  speedup      of `apply` and `mgpcg` over one thread\n"
     "  efficiency   speedup over threads",
     bench_threads},
    {"convergence", "CG, multigrid and both on a scrambled cube",
     "Section 10.4 of Milne et al. 2016: free nodes start up to 100 cells away.\n"
     "  max_error_at_N, seconds_at_N   largest error left after N iterations, over the first\n"
     "  iterations_to_1e-6             of the relative residual\n"
     "Plots: error against iterations and against seconds.",
     bench_convergence},
    {"incompressible", "linear solvers at Poisson's ratios up to 0.4999",
     "A ball and an animal under their weight, held below or tied to a bone, at rest: CG with\n"
     "pressures condensed, smoothed by Jacobi and by Chebyshev, and MINRES with pressures kept.\n"
     "First what is chosen by itself, for balls and animals of 24 to 320 cells a side:\n"
     "  iterations_to_error_1e-05   of |x - solution| / |solution|\n"
     "  error_at_the_end            where counting ended: how far the solution can be trusted\n"
     "then all ways on a small ball and animal:\n"
     "  iterations_to_1e-02, iterations_to_1e-05   of |K x - b| / |b|; 1500: not reached\n"
     "  seconds_to_1e-02, seconds_to_1e-05, ms_per_iteration",
     bench_incompressible},
    {"tissue", "what figure 6 of Patterson et al. 2012 measures, and what laws cost",
     "The demo character on uniform grids of 13,500 and 101,000 cells, balance after balance: "
     "corotated,\n"
     "stable neo-Hookean at Poisson's ratio 0.47, and nearly incompressible at 0.498.\n"
     "  differential_seconds, differentials_per_s_core   a product with the stiffness\n"
     "  seconds_per_krylov_iteration, _newton_step, _frame   set-up and first frame left out\n"
     "Theirs, one core: 0.041 s a differential, 0.067 an iteration, 7.0 a Newton step, 31.8 a "
     "frame at\n"
     "101,000 cells; 0.005, 0.007, 0.42 and 1.5 at 13,500.",
     bench_tissue},
    {"growth", "elements, bytes and time against 1/h, octree and uniform grid",
     "Figures 10 to 12 of Milne et al. 2016, on an animal that stands under its weight.\n"
     "  elements, slope               and how they grow: log(elements) over log(1/h), over the\n"
     "                                case before and, for `octree` and `uniform`, over all\n"
     "  bytes_per_element             the most held at once, set-up included\n"
     "  seconds_per_frame             10 Newton steps of 3 iterations\n"
     "  dense_bytes, dense_ratio      of a dense array of the same resolution, which holds the\n"
     "                                whole box; and how many times as much that is\n"
     "--max-elements ends the series; what does not fit into memory is left out.",
     bench_growth},
    {"spike", "a ball with many thin spikes, 3.1 million elements",
     "  seconds_per_frame   20 Newton steps of 20 iterations, and 10 of 3\n"
     "Milne et al. 2016 report 26.2 and 8.8 s on 40 cores.",
     bench_spike},
    {"character", "the demo character at 100 k, 765 k and 1.6 M elements",
     "  seconds_per_frame   10 Newton steps of 3 iterations, the mean of three frames of its walk",
     bench_character},
    {"contact", "the demo character walking on the ground, 100 k elements",
     "  contact_share       of the time of a frame that goes to finding and solving contacts\n"
     "  contacts            points of skin that touch something, the mean of the frames\n"
     "  seconds_per_frame   with inertia, to the scene's tolerance",
     bench_contact},
    {"render", "a ray traced picture of 100,000 triangles on a floor, 1280 x 720",
     "At preview quality and, if not --quick, at good.\n"
     "  seconds_per_frame   all of it, from triangles to pixels, the fastest of three\n"
     "  rays_per_s          from the eye, to the sun and to the sky, on all threads",
     bench_render},
    {"macroblock", "blocks of 16 x 8 x 8 cells solved directly, on stout and thin bodies",
     "Table 1 of Mitchell et al. 2016 for this machine, on a bar, a sheet and a shell two cells\n"
     "thick, and spikes, under their weight, one core; --case NAME: one of bar, sheet, shell,\n"
     "spikes, table1 and peers, which is CHOLMOD and others.\n"
     "  factor_seconds, solve_seconds, interface_seconds, gb_per_s    all blocks once; the\n"
     "                     interface's product is with the Schur complement\n"
     "  iteration_seconds, newton10_seconds, newton20_, newton50_     macroblocks with the\n"
     "                     diagonal of the interface, and CG without preconditioner; _eight:\n"
     "                     with eight points of Gauss in a cell, in the blocks too\n"
     "  iteration_over_cg, iteration_over_cg_eight                    what an iteration costs\n"
     "  iterations_SOLVER  to an energy norm of the error of 1e-3; `seconds_SOLVER` to a residual\n"
     "                     of 1e-4, set-up included\n"
     "                     exact: level 2 of multigrid solved directly; direct: level 1;\n"
     "                     smoother: macroblocks smooth multigrid's finest level, which gives\n"
     "                     smoother_time_ratio_multigrid, its time over theirs\n"
     "  iterations_ratio_cg, thin_time_ratio_multigrid                theirs over ours: CG's over\n"
     "                     macroblocks' with multigrid on the interface, which is the default\n"
     "                     of \"linear\": \"macroblock\", or with what the name ends in: faces is\n"
     "                     block Jacobi on faces, none what Mitchell et al. have;\n"
     "                     multigrid's time over that of auto, or of the best\n"
     "  factor_ratio_cholmod, solve_ratio_cholmod                     the same, one block\n"
     "  bytes_per_block",
     bench_macroblock},
    {"peers", "other solvers on the same matrix, one core each",
     "A uniform cube of 32^3 and 64^3 cells, one face clamped, Poisson's ratio 0.3, to a relative\n"
     "residual of 1e-6: PETSc's geometric and algebraic multigrid, hypre's BoomerAMG, CG with the\n"
     "diagonal, and CHOLMOD, by the program sinew-peers, as far as it was built with them.\n"
     "  setup_seconds, solve_seconds   reading the matrix is in neither; our set-up begins with\n"
     "                                 the triangles\n"
     "  iterations                     0 for a direct solver\n"
     "  bytes                          at most at once: their process, over its start and with\n"
     "                                 their matrix; ours by the library's counter\n"
     "  ratio_time, ratio_memory       theirs over ours\n"
     "  residual, difference           of their solution, and to ours, computed here\n"
     "  missing, did_not_finish        1 where there is nothing to compare",
     bench_peers},
    {NULL, NULL, NULL, NULL},
};

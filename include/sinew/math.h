/// Vectors, quaternions, rigid and affine motions, as plain open structs in double precision.
#ifndef SINEW_MATH_H
#define SINEW_MATH_H

/// A point or vector.
typedef struct sn_vec3 {
  double x, y, z;
} sn_vec3;

/// m[row][column]
typedef struct sn_mat3 {
  double m[3][3];
} sn_mat3;

/// A rotation; unit length, scalar last as in glTF.
typedef struct sn_quat {
  double x, y, z, w;
} sn_quat;

/// p -> rotate p + translate
typedef struct sn_rigid {
  sn_mat3 rotate;
  sn_vec3 translate;
} sn_rigid;

/// p -> linear p + translate
typedef struct sn_affine {
  sn_mat3 linear;
  sn_vec3 translate;
} sn_affine;

/// All points between two corners, lo <= hi.
typedef struct sn_box {
  sn_vec3 lo, hi;
} sn_box;

#endif

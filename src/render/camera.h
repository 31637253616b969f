// From places in the scene to places in the picture.
#ifndef SN_RENDER_CAMERA_H
#define SN_RENDER_CAMERA_H

#include <stdbool.h>

#include "sinew/shape.h"

typedef struct sn_camera {
  sn_vec3 eye, right, up, toward;  // `toward` leads from the scene to the eye; all three are unit
  double focal;                    // pixels
  double centre_x, centre_y;       // pixels; where the direction of view meets the picture
  sn_vec3 middle;                  // of what is shown
  double radius;                   // of what is shown
  double reach;                    // places farther than this from the eye are not drawn
} sn_camera;

// Distances from the middle of what is shown, in its radii: here colliders begin to fade into the
// background, and here they are gone.
#define SN_FADE_BEGIN 1.4
#define SN_FADE_END 3.4

// Fit what the view shows into a picture of the given size, with a margin.
sn_camera sn_camera_fit(const sn_view* view, int width, int height);

// Pixel coordinates, y down, and in z the inverse of the depth, which is linear in the picture.
// False where the place cannot be drawn.
bool sn_camera_project(const sn_camera* camera, sn_vec3 place, sn_vec3* pixel);

// The place as pictures measure it: from the middle of what is shown, in its radii.
sn_vec3 sn_camera_space(const sn_camera* camera, sn_vec3 place);

// Unit direction from the place seen at a pixel to the eye.
sn_vec3 sn_camera_to_eye(const sn_camera* camera, double x, double y);

#endif

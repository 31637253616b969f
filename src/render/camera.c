#include "render/camera.h"

#include "math/vec.h"

// Eye distance in radii of the frame: far enough for a mild perspective.
#define EYE_DISTANCE 5.0
#define MARGIN 0.04  // of the picture, on each side
#define PI 3.14159265358979323846

static sn_vec3 unit_axis(int axis) { return sn_v3(axis == 0, axis == 1, axis == 2); }

// Axes of a view, all unit: to the right, up, and towards the eye.
typedef struct view_axes {
  sn_vec3 right, up, toward;
} view_axes;

static view_axes axes_of(const sn_view* view) {
  double azimuth = view->azimuth_deg * PI / 180, elevation = view->elevation_deg * PI / 180;
  sn_vec3 up = unit_axis(view->up);
  sn_vec3 front = unit_axis((view->up + 1) % 3), side = unit_axis((view->up + 2) % 3);
  sn_vec3 level = sn_madd(sn_scale(cos(azimuth), front), sin(azimuth), side);
  view_axes axes;
  axes.toward = sn_madd(sn_scale(cos(elevation), level), sin(elevation), up);
  axes.right = sn_madd(sn_scale(cos(azimuth), side), -sin(azimuth), front);
  axes.up = sn_cross(axes.toward, axes.right);
  return axes;
}

static sn_vec3 to_scene(const view_axes* axes, sn_vec3 p) {
  return sn_madd(sn_madd(sn_scale(p.x, axes->right), p.y, axes->up), p.z, axes->toward);
}

sn_view sn_view_make(sn_up up, double azimuth_deg, double elevation_deg) {
  return (sn_view){.up = up,
                   .azimuth_deg = azimuth_deg,
                   .elevation_deg = elevation_deg,
                   .shown = sn_box_empty()};
}

void sn_view_include(sn_view* view, const float* positions, uint32_t vertex_count) {
  view_axes axes = axes_of(view);
  for (uint32_t v = 0; v < vertex_count; ++v) {
    const float* p = positions + 3 * (size_t)v;
    if (!isfinite(p[0]) || !isfinite(p[1]) || !isfinite(p[2])) continue;
    sn_vec3 place = sn_v3(p[0], p[1], p[2]);
    sn_vec3 seen =
        sn_v3(sn_dot(place, axes.right), sn_dot(place, axes.up), sn_dot(place, axes.toward));
    view->shown = sn_box_grow(view->shown, seen);
  }
}

static sn_vec3 box_corner(sn_box box, int corner) {
  return sn_v3(corner & 1 ? box.hi.x : box.lo.x, corner & 2 ? box.hi.y : box.lo.y,
               corner & 4 ? box.hi.z : box.lo.z);
}

// Where the corners of the box of the view fall.
static sn_box seen_box(const sn_camera* camera, const view_axes* axes, sn_box shown) {
  sn_box seen = sn_box_empty();
  for (int corner = 0; corner < 8; ++corner) {
    sn_vec3 place = to_scene(axes, box_corner(shown, corner)), pixel;
    if (sn_camera_project(camera, place, &pixel)) seen = sn_box_grow(seen, pixel);
  }
  return seen;
}

sn_camera sn_camera_fit(const sn_view* view, int width, int height) {
  view_axes axes = axes_of(view);
  sn_box shown = view->shown;
  if (!(shown.lo.x <= shown.hi.x)) shown = (sn_box){{-1, -1, -1}, {1, 1, 1}};
  double radius = 0.5 * sn_distance(shown.lo, shown.hi);
  if (!(radius > 0)) radius = 1;
  sn_camera camera = {.right = axes.right, .up = axes.up, .toward = axes.toward, .focal = 1};
  camera.middle = to_scene(&axes, sn_box_centre(shown));
  camera.radius = radius;
  camera.eye = sn_madd(camera.middle, EYE_DISTANCE * radius, axes.toward);
  camera.reach = 100 * radius;

  // A trial picture with a focal length of one pixel tells the scale and the shift.
  sn_box seen = seen_box(&camera, &axes, shown);
  double room = 1 - 2 * MARGIN, least = 1e-3;
  double across = fmax(seen.hi.x - seen.lo.x, least), along = fmax(seen.hi.y - seen.lo.y, least);
  double taken = (1 - view->free_right) * width;
  camera.focal = fmin(room * taken / across, room * height / along);
  camera.centre_x = 0.5 * taken - camera.focal * 0.5 * (seen.lo.x + seen.hi.x);
  camera.centre_y = 0.5 * height - camera.focal * 0.5 * (seen.lo.y + seen.hi.y);
  return camera;
}

bool sn_camera_project(const sn_camera* camera, sn_vec3 place, sn_vec3* pixel) {
  sn_vec3 offset = sn_sub(place, camera->eye);
  double depth = -sn_dot(offset, camera->toward);
  // Written so that what is not a number fails.
  if (!(sn_dot(offset, offset) < camera->reach * camera->reach)) return false;
  if (!(depth > 1e-3 * camera->reach)) return false;
  pixel->x = camera->centre_x + camera->focal * sn_dot(offset, camera->right) / depth;
  pixel->y = camera->centre_y - camera->focal * sn_dot(offset, camera->up) / depth;
  pixel->z = 1 / depth;
  return true;
}

sn_vec3 sn_camera_space(const sn_camera* camera, sn_vec3 place) {
  return sn_scale(1 / camera->radius, sn_sub(place, camera->middle));
}

sn_vec3 sn_camera_to_eye(const sn_camera* camera, double x, double y) {
  double u = (camera->centre_x - x) / camera->focal, v = (y - camera->centre_y) / camera->focal;
  sn_vec3 direction = sn_madd(sn_madd(camera->toward, u, camera->right), v, camera->up);
  return sn_scale(1 / sn_length(direction), direction);
}

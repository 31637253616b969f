// Soft shadows: the soup is looked at from many directions of light, and what a direction sees is
// lit by it. Directions all over the sphere darken hollows, a bundle around the key light casts the
// shadow of flesh; that of a plate or a hand around it would only hide it. Light is kept at vertices
// and blurred there.
#include "math/vec.h"
#include "render/even.h"
#include "render/scan.h"
#include "render/soup.h"

#define MAP_SIZE 256
#define SKY_DIRECTIONS 64
#define KEY_DIRECTIONS 16
#define EVEN_ROUNDS 2
#define KEY_SPREAD 0.16  // radius of the key light seen from its distance

// Height above the centre along one direction, for the highest surface over each point of a raster
// that spans what is shown.
typedef struct height_map {
  sn_vec3 centre, right, up, toward;
  double scale;    // texels in a metre
  float* heights;  // (MAP_SIZE x MAP_SIZE)
} height_map;

static void aim(height_map* map, sn_vec3 direction) {
  map->toward = direction;
  sn_vec3 helper = fabs(direction.y) < 0.8 ? sn_v3(0, 1, 0) : sn_v3(1, 0, 0);
  map->right = sn_cross(helper, direction);
  map->right = sn_scale(1 / sn_length(map->right), map->right);
  map->up = sn_cross(direction, map->right);
}

static sn_vec3 map_place(const height_map* map, sn_vec3 place) {
  sn_vec3 offset = sn_sub(place, map->centre);
  double middle = 0.5 * MAP_SIZE;
  return sn_v3(middle + map->scale * sn_dot(offset, map->right),
               middle + map->scale * sn_dot(offset, map->up), sn_dot(offset, map->toward));
}

static void raise_triangle(height_map* map, const sn_vec3 corners[3]) {
  sn_scan scan;
  double w[3];
  if (!sn_scan_begin(&scan, corners, MAP_SIZE, 0, MAP_SIZE)) return;
  for (int y = scan.y_begin; y < scan.y_end; ++y) {
    for (int x = scan.x_begin; x < scan.x_end; ++x) {
      if (!sn_scan_weights(&scan, x, y, w)) continue;
      float height = (float)(w[0] * corners[0].z + w[1] * corners[1].z + w[2] * corners[2].z);
      float* highest = &map->heights[y * MAP_SIZE + x];
      if (height > *highest) *highest = height;
    }
  }
}

static void draw_heights(height_map* map, const sn_soup* soup, bool flesh_only) {
  for (int i = 0; i < MAP_SIZE * MAP_SIZE; ++i) map->heights[i] = -INFINITY;
  for (uint32_t t = 0; t < soup->triangle_count; ++t) {
    if (flesh_only && soup->looks[soup->owners[t]] != SN_LOOK_FLESH) continue;
    sn_vec3 corners[3];
    for (int c = 0; c < 3; ++c) {
      corners[c] = map_place(map, soup->places[soup->triangles[3 * (size_t)t + c]]);
    }
    raise_triangle(map, corners);
  }
}

// How much of the direction's light arrives just above a vertex, 0 to 1, over four texels.
static double light_at(const height_map* map, const sn_soup* soup, uint32_t vertex) {
  double lift = 2.0 / map->scale;
  sn_vec3 p = map_place(map, sn_madd(soup->places[vertex], lift, soup->normals[vertex]));
  double left = floor(p.x - 0.5), top = floor(p.y - 0.5);
  if (!(left >= 0 && left < MAP_SIZE - 1 && top >= 0 && top < MAP_SIZE - 1)) return 1;
  double u = p.x - 0.5 - left, v = p.y - 0.5 - top, light = 0;
  for (int k = 0; k < 4; ++k) {
    int x = (int)left + (k & 1), y = (int)top + (k >> 1);
    double weight = (k & 1 ? u : 1 - u) * (k >> 1 ? v : 1 - v);
    if (map->heights[y * MAP_SIZE + x] <= p.z + lift) light += weight;
  }
  return light;
}

// Direction `index` of `count`, spread evenly over the sphere along a spiral.
static sn_vec3 spiral_direction(int index, int count) {
  const double golden_angle = 2.39996322972865332;
  double z = 1 - (2 * index + 1.0) / count, r = sqrt(1 - z * z);
  return sn_v3(r * cos(golden_angle * index), r * sin(golden_angle * index), z);
}

// The share of the light from above and around that arrives, weighed as the surface weighs it.
static void gather_sky(height_map* map, sn_soup* soup, sn_vec3 up, float* most) {
  for (uint32_t v = 0; v < soup->vertex_count; ++v) soup->sky[v] = most[v] = 0;
  for (int d = 0; d < SKY_DIRECTIONS; ++d) {
    sn_vec3 direction = spiral_direction(d, SKY_DIRECTIONS);
    double brightness = 0.65 + 0.35 * sn_dot(direction, up);
    aim(map, direction);
    draw_heights(map, soup, false);
    for (uint32_t v = 0; v < soup->vertex_count; ++v) {
      double weight = brightness * sn_dot(soup->normals[v], direction);
      if (!(weight > 0)) continue;
      most[v] += (float)weight;
      soup->sky[v] += (float)(weight * light_at(map, soup, v));
    }
  }
  for (uint32_t v = 0; v < soup->vertex_count; ++v) {
    soup->sky[v] = most[v] > 0 ? soup->sky[v] / most[v] : 1;
  }
}

static void gather_key(height_map* map, sn_soup* soup, sn_vec3 key) {
  for (uint32_t v = 0; v < soup->vertex_count; ++v) soup->key[v] = 0;
  for (int d = 0; d < KEY_DIRECTIONS; ++d) {
    sn_vec3 direction = sn_madd(key, KEY_SPREAD, spiral_direction(d, KEY_DIRECTIONS));
    aim(map, sn_scale(1 / sn_length(direction), direction));
    draw_heights(map, soup, true);
    for (uint32_t v = 0; v < soup->vertex_count; ++v) {
      soup->key[v] += (float)(light_at(map, soup, v) / KEY_DIRECTIONS);
    }
  }
}

sn_status sn_soup_shadow(sn_soup* soup, const sn_light_rig* rig, const sn_camera* camera,
                         sn_arena* arena, sn_error* err) {
  height_map map = {.centre = camera->middle, .scale = (MAP_SIZE - 2) / (2 * camera->radius)};
  float* most;
  SN_TRY(SN_ARENA_NEW(arena, MAP_SIZE * MAP_SIZE, &map.heights, err));
  SN_TRY(SN_ARENA_NEW(arena, soup->vertex_count, &most, err));
  gather_sky(&map, soup, rig->up, most);
  gather_key(&map, soup, rig->key);
  // The steps of the maps show where light grazes a surface; a mean over neighbours hides them.
  sn_triangle_list all = {soup->triangles, soup->triangle_count, soup->vertex_count};
  SN_TRY(sn_even_out(&all, EVEN_ROUNDS, soup->sky, err));
  return sn_even_out(&all, EVEN_ROUNDS, soup->key, err);
}

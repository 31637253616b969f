/// Shapes made here: bodies blended from round cones, and pictures of surfaces.
#ifndef SINEW_SHAPE_H
#define SINEW_SHAPE_H

#include "sinew/mesh.h"
#include "sinew/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A sphere swept along a segment while its radius changes evenly. Equal radii make a capsule,
/// equal ends a sphere; a radius of 0 makes a tip.
typedef struct sn_round_cone {
  sn_vec3 from, to;
  double from_radius, to_radius;  ///< >= 0, metres
} sn_round_cone;

/// The surface around round cones that melt into one another: closed, 2-manifold, outward, and the
/// same to the last bit on any machine. Cones are joined in the given order by a smooth minimum;
/// each melts over the length `blend`, but never over more than its own larger radius, so that
/// small parts keep their form.
/// @param blend metres, >= 0; 0 leaves creases
/// @param cell edge of the sampling grid and so about the edge of the triangles, metres; what is
/// thinner may be lost
/// @return SN_ERR_INPUT where a value is out of range, the grid too large or nothing thick enough
SN_API sn_status sn_mesh_from_round_cones(const sn_round_cone* cones, uint32_t cone_count,
                                          double blend, double cell, sn_mesh* mesh, sn_error* err);

/// A picture, 8-bit sRGB, rows from the top.
typedef struct sn_image {
  uint8_t* pixels;  ///< (3 x width x height)
  int width, height;
} sn_image;

/// sRGB
typedef struct sn_colour {
  uint8_t r, g, b;
} sn_colour;

/// How much work goes into a picture: 4, 16 or 64 rays a pixel, each with light from sun and sky.
typedef enum sn_quality { SN_QUALITY_PREVIEW, SN_QUALITY_GOOD, SN_QUALITY_BEST } sn_quality;

/// Where to look from, in mild perspective, what to show, and how.
typedef struct sn_view {
  sn_up up;  ///< which axis points up in the picture
  /// Around the up axis, counter-clockwise seen from above. 0 looks from the positive end of the
  /// axis that follows `up` in the cycle x, y, z: for y up that is from +z, with x to the right.
  double azimuth_deg;
  double elevation_deg;  ///< above the horizon
  /// What the picture is fitted to, along the axes of the view: to the right, up and towards the
  /// eye, metres. Grown by sn_view_include.
  sn_box shown;
  double
      free_right;  ///< share of the picture's width, at its right, that what is shown leaves free
  sn_quality quality;   ///< Default preview.
  sn_pool* pool;        ///< whose threads draw; NULL: the caller's. They never change the picture.
  uint64_t* ray_count;  ///< NULL, or a number that grows by the rays that were followed
} sn_view;

/// A view that shows nothing yet.
SN_API sn_view sn_view_make(sn_up up, double azimuth_deg, double elevation_deg);
/// Make sure that these places are in the picture, without losing those included before. Places
/// that are not finite are passed over. Include all frames of a run to see it from a fixed place.
/// @param positions (3 x vertex_count)
SN_API void sn_view_include(sn_view* view, const float* positions, uint32_t vertex_count);

/// What a surface is drawn as.
typedef enum sn_look {
  SN_LOOK_FLESH,  ///< with a sheen, and light below the skin
  SN_LOOK_SOLID,  ///< dull; flesh behind it shines through
  SN_LOOK_FLOOR,  ///< as bright as the background where no shadow falls; seen from its outer side only
  SN_LOOK_BONE,  ///< dull
  SN_LOOK_DATA,  ///< evenly lit, so that colours are those of a legend
  SN_LOOK_GHOST  ///< a thin skin, through which the inside is seen
} sn_look;

/// Lines along the edges of a triangle: from its first corner to the second, and on.
typedef enum sn_edges { SN_EDGE_FIRST = 1, SN_EDGE_SECOND = 2, SN_EDGE_THIRD = 4 } sn_edges;

/// A surface to draw. Triangles with a corner that is not finite, behind the eye or very far
/// from what the view shows are left out.
typedef struct sn_drawn_surface {
  const float* positions;  ///< (3 x vertex_count)
  uint32_t vertex_count;
  const uint32_t* triangles;  ///< (3 x triangle_count)
  uint32_t triangle_count;
  sn_look look;  ///< solids and floors fade into the background away from what the view shows
  sn_colour base;
  /// NULL, or a number at each vertex (vertex_count), taken as linear between them: where it is
  /// above 0.5, `mark` replaces `base`. See sn_mesh_mark_group.
  const float* marks;
  sn_colour mark;
  /// NULL, or the colour of each vertex instead of `base`, taken as linear between them (vertex_count).
  const sn_colour* colours;
  /// NULL, or which edges of each triangle are drawn as thin dark lines, bits of sn_edges
  /// (triangle_count).
  const uint8_t* edges;
  /// NULL, or a number at each vertex (vertex_count), taken as linear between them: where it is above 0,
  /// the surface is cut away.
  const float* cut;
} sn_drawn_surface;

/// Colours that stand for numbers. Equal steps of the number look like equal steps of colour.
typedef struct sn_colour_scale {
  double low, high;   ///< numbers beyond them have the colour of the end
  bool is_diverging;  ///< pale in the middle, blue below and red above it; else from dark to light
} sn_colour_scale;

/// The colour of a number; grey for one that is none.
SN_API sn_colour sn_scale_colour(const sn_colour_scale* scale, double value);

/// How far each vertex lies in a group, from 0 to 1, evened out so that the line where it is 0.5
/// follows the border of the group smoothly.
/// @param marks (vertex_count)
SN_API sn_status sn_mesh_mark_group(const sn_mesh* mesh, const sn_mesh_group* group, float* marks,
                                    sn_error* err);

/// The surface of a collider as pictures need it: placed by `pose`, round where it is round,
/// and cut off where it would have faded; `mesh` is zeroed where nothing is left. A plane becomes a disc around
/// what the view shows. Draw it as SN_LOOK_FLOOR if it is a plane, else as SN_LOOK_SOLID.
SN_API sn_status sn_mesh_from_collider(const sn_collider_desc* collider, const sn_rigid* pose,
                                       const sn_view* view, sn_mesh* mesh, sn_error* err);

/// A warm tone that suits flesh.
SN_API sn_colour sn_colour_skin(void);
/// Tones that tell bodies apart; they repeat after six. @param index 0 is skin
SN_API sn_colour sn_colour_body(uint32_t index);
/// A neutral grey for colliders.
SN_API sn_colour sn_colour_stone(void);
/// Nearly black, for eyes and noses.
SN_API sn_colour sn_colour_dark(void);

/// A white picture. @param width, height 1 to 32768
SN_API sn_status sn_image_create(int width, int height, sn_image* image, sn_error* err);
/// Frees and zeroes `image`. A zeroed image is fine.
SN_API void sn_image_destroy(sn_image* image);
/// Draw surfaces by ray tracing, smooth-shaded, in the light of a soft sun and of the sky, over a light
/// background into the rectangle (left, top, width, height), which must lie within `image`. The same
/// arguments give the same picture, on any number of threads.
SN_API sn_status sn_image_draw_surfaces(sn_image* image, const int rectangle[4],
                                        const sn_view* view, const sn_drawn_surface* surfaces,
                                        uint32_t surface_count, sn_error* err);
/// Draw one line of text with its upper left corner at (left, top); what lies outside is cut. A letter takes 6 x `scale` pixels in width, 7 x `scale` in
/// height.
SN_API void sn_image_draw_text(sn_image* image, int left, int top, int scale, sn_colour colour,
                               const char* text);
/// Draw what the colours of a scale stand for, as an upright bar with numbers to its right: `title` above
/// it, all within the rectangle (left, top, width, height) as far as there is room.
/// @param text_scale as in sn_image_draw_text
SN_API void sn_image_draw_legend(sn_image* image, const int rectangle[4], int text_scale,
                                 const sn_colour_scale* scale, const char* title);
/// Write a PNG file, whole or not at all.
SN_API sn_status sn_image_save_png(const sn_image* image, const char* path, sn_error* err);

#ifdef __cplusplus
}
#endif

#endif

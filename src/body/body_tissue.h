// What the cells of a body are made of: its material, with regions and maps laid over it.
#ifndef SN_BODY_BODY_TISSUE_H
#define SN_BODY_BODY_TISSUE_H

#include "body/body.h"

// The surfaces of a body's regions (region_count).
sn_status sn_body_prepare_regions(const sn_body_desc* desc, sn_arena* arena, sn_arena* scratch,
                                  sn_surface** surfaces, sn_error* err);

// Set kinds, cell_kinds, mu, lambda, the maps and the shares of the regions. `index` is that of the
// body, for messages; `fill` how much of each cell there is (cell_count).
// @param density of each cell, kg/m3, in scratch memory; NULL: all have that of the description
sn_status sn_body_lay_tissue(sn_body* body, uint32_t index, const sn_surface* regions,
                             const float* fill, sn_pool* pool, sn_arena* arena, sn_arena* scratch,
                             double** density, sn_error* err);

#endif

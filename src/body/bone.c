#include "body/bone.h"

#include "geometry/capsule.h"

sn_status sn_bone_build(const sn_bone_desc* desc, sn_arena* arena, sn_arena* scratch, sn_bone* bone,
                        sn_error* err) {
  *bone = (sn_bone){.desc = desc};
  const sn_mesh* mesh = &desc->mesh;
  if (desc->kind == SN_BONE_CAPSULE) {
    const sn_capsule* c = &desc->capsule;
    SN_TRY(sn_capsule_mesh(c->from, c->to, c->radius, &bone->capsule_mesh, err));
    mesh = &bone->capsule_mesh;
  }
  SN_TRY(sn_surface_prepare(mesh, arena, scratch, &bone->surface, err));
  SN_CHECK(bone->surface.triangle_count > 0, err, SN_ERR_INPUT,
           "%s: bone \"%s\" has no triangle with area; expected a surface mesh", desc->surface,
           desc->name);
  return sn_bvh_build(&bone->surface, NULL, arena, scratch, &bone->bvh, err);
}

void sn_bone_destroy(sn_bone* bone) { sn_mesh_destroy(&bone->capsule_mesh); }

double sn_bone_distance(const sn_bone* bone, sn_vec3 p, double limit) {
  const sn_capsule* c = &bone->desc->capsule;
  if (bone->desc->kind == SN_BONE_CAPSULE) {
    return sn_capsule_distance(c->from, c->to, c->radius, p);
  }
  double distance = sn_bvh_distance(&bone->bvh, p, limit);
  return sn_bvh_winding(&bone->bvh, p) > 0.5 ? -distance : distance;
}

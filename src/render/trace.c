#include "render/trace.h"

#include <embree3/rtcore.h>
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "math/simd_mode.h"

// No threads of its own: the order in which it builds, and so what it builds, is always the same.
#define DEVICE_SETTINGS "threads=1,user_threads=1,set_affinity=0,verbose=0"

struct sn_tracer {
  sn_traced traced;
  RTCDevice device;  // NULL where there is nothing to hit
  RTCScene scene;
  sn_status status;  // of what Embree reported first
  char message[200];
};

static void keep_error(void* user, enum RTCError code, const char* text) {
  sn_tracer* tracer = user;
  if (tracer->status != SN_OK) return;
  tracer->status = code == RTC_ERROR_OUT_OF_MEMORY ? SN_ERR_MEMORY : SN_ERR_USAGE;
  snprintf(tracer->message, sizeof tracer->message, "%s", text ? text : "no reason given");
}

// Embree has an allocator of its own. Where the library's has run out, it is refused more.
static bool allow_memory(void* user, ssize_t bytes, bool after) {
  (void)user;
  (void)after;
  if (bytes <= 0) return true;
  void* probe = sn_allocate(1);
  sn_release(probe);
  return probe != NULL;
}

static sn_status check(const sn_tracer* tracer, sn_error* err) {
  SN_CHECK(tracer->status == SN_OK, err, tracer->status, "ray tracing (Embree): %s",
           tracer->message);
  return SN_OK;
}

static sn_status open_device(sn_tracer* tracer, sn_error* err) {
  tracer->device = rtcNewDevice(DEVICE_SETTINGS);
  if (!tracer->device) {
    // Without a device, the code is kept for the thread.
    keep_error(tracer, rtcGetDeviceError(NULL), "no device could be opened");
    return check(tracer, err);
  }
  rtcSetDeviceErrorFunction(tracer->device, keep_error, tracer);
  rtcSetDeviceMemoryMonitorFunction(tracer->device, allow_memory, tracer);
  tracer->scene = rtcNewScene(tracer->device);
  SN_TRY(check(tracer, err));
  // Without this a ray may slip through between neighbours.
  rtcSetSceneFlags(tracer->scene, RTC_SCENE_FLAG_ROBUST);
  return check(tracer, err);
}

// Called for each hit before it counts.
static void pass_holes(const struct RTCFilterFunctionNArguments* args) {
  const sn_traced* t = args->geometryUserPtr;
  SN_ASSERT(args->N == 1);
  const struct RTCHit* hit = (const struct RTCHit*)args->hit;
  const uint32_t* c = t->triangles + 3 * (size_t)hit->primID;
  float u = hit->u, v = hit->v;
  float cut = (1 - u - v) * t->cuts[c[0]] + u * t->cuts[c[1]] + v * t->cuts[c[2]];
  if (cut > 0) args->valid[0] = 0;
}

static void let_through_holes(sn_tracer* tracer, RTCGeometry geometry) {
  if (!tracer->traced.cuts) return;
  rtcSetGeometryUserData(geometry, &tracer->traced);
  rtcSetGeometryIntersectFilterFunction(geometry, pass_holes);
  rtcSetGeometryOccludedFilterFunction(geometry, pass_holes);
}

static sn_status add_triangles(sn_tracer* tracer, sn_error* err) {
  const sn_traced* t = &tracer->traced;
  RTCGeometry geometry = rtcNewGeometry(tracer->device, RTC_GEOMETRY_TYPE_TRIANGLE);
  SN_TRY(check(tracer, err));
  rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, t->places, 0,
                             3 * sizeof(float), t->vertex_count);
  rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, t->triangles, 0,
                             3 * sizeof(uint32_t), t->triangle_count);
  let_through_holes(tracer, geometry);
  rtcCommitGeometry(geometry);
  rtcAttachGeometry(tracer->scene, geometry);
  rtcReleaseGeometry(geometry);
  SN_TRY(check(tracer, err));
  rtcCommitScene(tracer->scene);
  return check(tracer, err);
}

sn_status sn_tracer_create(const sn_traced* traced, sn_tracer** tracer, sn_error* err) {
  *tracer = NULL;
  sn_tracer* made = sn_allocate(sizeof *made);
  if (!made) return sn_fail_memory(err, sizeof *made);
  *made = (sn_tracer){.traced = *traced};
  sn_status status = SN_OK;
  if (traced->triangle_count > 0) {
    unsigned mode = sn_float_mode_flush();
    status = open_device(made, err);
    if (status == SN_OK) status = add_triangles(made, err);
    sn_float_mode_restore(mode);
  }
  if (status == SN_OK) {
    *tracer = made;
  } else {
    sn_tracer_destroy(made);
  }
  return status;
}

void sn_tracer_destroy(sn_tracer* tracer) {
  if (!tracer) return;
  if (tracer->scene) rtcReleaseScene(tracer->scene);
  if (tracer->device) rtcReleaseDevice(tracer->device);
  sn_release(tracer);
}

static struct RTCRay make_ray(const sn_ray* ray) {
  return (struct RTCRay){.org_x = ray->origin[0],
                         .org_y = ray->origin[1],
                         .org_z = ray->origin[2],
                         .tnear = ray->begin,
                         .dir_x = ray->direction[0],
                         .dir_y = ray->direction[1],
                         .dir_z = ray->direction[2],
                         .tfar = ray->end,
                         .mask = UINT32_MAX};
}

sn_hit sn_tracer_hit(const sn_tracer* tracer, const sn_ray* ray) {
  sn_hit none = {.triangle = SN_NO_HIT, .distance = INFINITY};
  if (!tracer->scene) return none;
  struct RTCRayHit query = {make_ray(ray), {.geomID = RTC_INVALID_GEOMETRY_ID}};
  struct RTCIntersectContext context;
  rtcInitIntersectContext(&context);
  rtcIntersect1(tracer->scene, &context, &query);
  if (query.hit.geomID == RTC_INVALID_GEOMETRY_ID) return none;
  return (sn_hit){query.hit.primID, query.hit.u, query.hit.v, query.ray.tfar};
}

bool sn_tracer_blocks(const sn_tracer* tracer, const sn_ray* ray) {
  if (!tracer->scene) return false;
  struct RTCRay query = make_ray(ray);
  struct RTCIntersectContext context;
  rtcInitIntersectContext(&context);
  rtcOccluded1(tracer->scene, &context, &query);
  // Embree marks it so.
  return query.tfar < 0;
}

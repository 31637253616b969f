// Rays against triangles, by Embree: no other file knows it. It builds and is asked on the calling
// thread alone, so that a hit depends on nothing but ray and triangles.
#ifndef SN_RENDER_TRACE_H
#define SN_RENDER_TRACE_H

#include "base/status.h"

typedef struct sn_tracer sn_tracer;

typedef struct sn_ray {
  float origin[3], direction[3];  // the direction is unit
  float begin, end;               // distances along it that count
} sn_ray;

#define SN_NO_HIT UINT32_MAX

typedef struct sn_hit {
  uint32_t triangle;  // or SN_NO_HIT
  float u, v;         // weights of the second and third corner
  float distance;
} sn_hit;

typedef struct sn_traced {
  const float* places;  // (3 x vertex_count), and room for one more number behind them
  size_t vertex_count;
  const uint32_t* triangles;  // (3 x triangle_count)
  size_t triangle_count;      // 0 is fine: nothing is hit
  const float* cuts;          // where above 0, triangles have holes (vertex_count); NULL: nowhere
} sn_traced;

// The arrays must outlive the tracer. Embree asks the library's allocator before it takes memory.
sn_status sn_tracer_create(const sn_traced* traced, sn_tracer** tracer, sn_error* err);
// NULL is fine.
void sn_tracer_destroy(sn_tracer* tracer);

// The nearest hit. May be called by many threads at a time.
sn_hit sn_tracer_hit(const sn_tracer* tracer, const sn_ray* ray);
// Whether there is any.
bool sn_tracer_blocks(const sn_tracer* tracer, const sn_ray* ray);

#endif

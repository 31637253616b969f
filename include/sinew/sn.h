/// All of Sinew's public interface.
///
///     scene.json + meshes --sn_scene_load--> sn_scene --sn_model_build--> sn_model
///       --sn_state_create--> sn_state --sn_step--> sn_state ... once a frame
///       --sn_surface_extract--> positions --sn_run_append--> BODY.pc2, stats.jsonl
#ifndef SINEW_SN_H
#define SINEW_SN_H

#include "sinew/base.h"
#include "sinew/fields.h"
#include "sinew/flesh.h"
#include "sinew/gltf.h"
#include "sinew/io.h"
#include "sinew/material.h"
#include "sinew/math.h"
#include "sinew/mesh.h"
#include "sinew/model.h"
#include "sinew/scene.h"
#include "sinew/shape.h"
#include "sinew/state.h"

#endif

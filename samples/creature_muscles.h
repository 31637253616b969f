// Muscles of the creature's legs, as closed surfaces inside its flesh.
#ifndef CREATURE_MUSCLES_H
#define CREATURE_MUSCLES_H

#include "creature_rig.h"

// A file FOLDER/muscle_SIDE_NAME.obj each.
sn_status muscles_save(const char* folder, const creature_rig* rig, sn_error* err);

#endif

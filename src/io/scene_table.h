// Shorthand for the rows of tables of keys (scene_json.h).
#ifndef SN_IO_SCENE_TABLE_H
#define SN_IO_SCENE_TABLE_H

#include "io/scene_json.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define TABLE(fields) fields, COUNT(fields)
#define AT(type, member) .offset = offsetof(type, member)
#define OPTIONAL .optional = true
#define CHOICES(array) .choices = array, .choice_count = COUNT(array)
#define FROM_TO(least, most) .range = {.lo = least, .hi = most}
#define FROM_BELOW(least, end) .range = {.lo = least, .hi = end, .below = true}
#define ABOVE_TO(bound, most) .range = {.lo = bound, .hi = most, .above = true}
#define ABOVE_BELOW(bound, end) .range = {.lo = bound, .hi = end, .above = true, .below = true}

#endif

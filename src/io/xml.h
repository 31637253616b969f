// XML as a tree, as far as data files need it: elements, attributes, text. Comments, declarations and
// entities other than the five of XML are passed over.
#ifndef SN_IO_XML_H
#define SN_IO_XML_H

#include "base/memory.h"

typedef struct sn_xml_attribute {
  const char *name, *value;
  struct sn_xml_attribute* next;
} sn_xml_attribute;

typedef struct sn_xml {
  const char* name;  // without the prefix of a name space
  const char* text;  // the first stretch of text in it, "" without
  uint64_t line;
  sn_xml_attribute* attributes;
  struct sn_xml *first, *next, *parent;
} sn_xml;

// Parse `bytes`, which are changed and must live as long as the tree; bytes[size] must be 0.
// SN_ERR_INPUT names the line.
sn_status sn_xml_parse(const char* path, char* bytes, size_t size, sn_arena* arena, sn_xml** root,
                       sn_error* err);
// Child of that name; NULL without, also where `within` is NULL.
const sn_xml* sn_xml_child(const sn_xml* within, const char* name);
// The next sibling of the same name.
const sn_xml* sn_xml_again(const sn_xml* element);
// "" where there is none.
const char* sn_xml_value(const sn_xml* element, const char* attribute);
// The next element of the tree below `root`, in the order of the file; NULL at the end.
const sn_xml* sn_xml_walk(const sn_xml* root, const sn_xml* at);

#endif

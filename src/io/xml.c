// XML as a tree. The text is cut up in place, so that nothing but the elements needs memory.
#include "io/xml.h"

#include <string.h>

#include "base/status.h"

#define DEPTH_MAX 256

typedef struct reader {
  const char* path;
  char *at, *end;
  uint64_t line;
  sn_arena* arena;
  sn_error* err;
} reader;

static sn_status fail(const reader* r, const char* expected) {
  return sn_fail(r->err, SN_ERR_INPUT, "%s: line %llu: found something else, expected %s", r->path,
                 (unsigned long long)r->line, expected);
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static void skip_blanks(reader* r) {
  for (; r->at < r->end && is_blank(*r->at); ++r->at) r->line += *r->at == '\n';
}

static bool starts(const reader* r, const char* word) {
  size_t length = strlen(word);
  return (size_t)(r->end - r->at) >= length && memcmp(r->at, word, length) == 0;
}

// Behind the next `mark`.
static sn_status skip_past(reader* r, const char* mark) {
  for (; r->at < r->end; ++r->at) {
    if (starts(r, mark)) {
      r->at += strlen(mark);
      return SN_OK;
    }
    r->line += *r->at == '\n';
  }
  return fail(r, mark);
}

static bool ends_name(char c) { return is_blank(c) || c == '>' || c == '/' || c == '=' || c == 0; }

// A name without its prefix; the character behind it is left for the caller, who cuts there.
static sn_status read_name(reader* r, const char** name, char** name_end) {
  *name = r->at;
  while (r->at < r->end && !ends_name(*r->at)) {
    if (*r->at++ == ':') *name = r->at;
  }
  *name_end = r->at;
  return r->at > *name ? SN_OK : fail(r, "a name");
}

// In place: what they stand for is shorter.
static void replace_entities(char* text) {
  static const struct {
    const char* name;
    char stands_for;
  } entities[] = {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};
  char* to = strchr(text, '&');
  if (!to) return;
  for (const char* from = to; *from;) {
    size_t length = 0;
    for (int i = 0; i < 5 && length == 0; ++i) {
      if (strncmp(from, entities[i].name, strlen(entities[i].name)) != 0) continue;
      length = strlen(entities[i].name);
      *to++ = entities[i].stands_for;
    }
    if (length == 0) *to++ = *from++;
    from += length;
  }
  *to = 0;
}

static sn_status read_attribute(reader* r, sn_xml* element) {
  sn_xml_attribute* attribute;
  char* name_end;
  SN_TRY(SN_ARENA_NEW(r->arena, 1, &attribute, r->err));
  SN_TRY(read_name(r, &attribute->name, &name_end));
  skip_blanks(r);
  if (r->at == r->end || *r->at != '=') return fail(r, "= behind the name of an attribute");
  ++r->at;
  *name_end = 0;
  skip_blanks(r);
  char quote = r->at < r->end ? *r->at : 0;
  if (quote != '"' && quote != '\'') return fail(r, "a value in quotes");
  char* value = ++r->at;
  while (r->at < r->end && *r->at != quote) r->line += *r->at++ == '\n';
  if (r->at == r->end) return fail(r, "a quote behind a value");
  *r->at++ = 0;
  replace_entities(value);
  attribute->value = value;
  attribute->next = element->attributes;
  element->attributes = attribute;
  return SN_OK;
}

// Behind "<": name and attributes. @param is_empty whether it ended with "/>"
static sn_status read_tag(reader* r, sn_xml* element, bool* is_empty) {
  char* name_end;
  element->line = r->line;
  element->text = "";
  SN_TRY(read_name(r, &element->name, &name_end));
  for (;;) {
    char* blank = r->at;
    skip_blanks(r);
    if (r->at == r->end) return fail(r, "> behind a tag");
    *is_empty = *r->at == '/';
    if (*is_empty) ++r->at;
    if (r->at < r->end && *r->at == '>') {
      ++r->at;
      *name_end = 0;
      return SN_OK;
    }
    if (*is_empty || r->at == blank) return fail(r, "> or an attribute");
    SN_TRY(read_attribute(r, element));
  }
}

// Text up to the next tag; the first stretch that is not blank is kept.
static void read_text(reader* r, sn_xml* element) {
  skip_blanks(r);
  char* text = r->at;
  while (r->at < r->end && *r->at != '<') r->line += *r->at++ == '\n';
  if (r->at > text && !element->text[0]) element->text = text;
}

static sn_status close_element(reader* r, const sn_xml* element) {
  const char* name;
  char* name_end;
  r->at += 2;
  SN_TRY(read_name(r, &name, &name_end));
  size_t length = (size_t)(name_end - name);
  if (strlen(element->name) != length || memcmp(element->name, name, length) != 0) {
    return sn_fail(r->err, SN_ERR_INPUT,
                   "%s: line %llu: found the end of another element, expected %s%.60s>", r->path,
                   (unsigned long long)r->line, "</", element->name);
  }
  return skip_past(r, ">");
}

sn_status sn_xml_parse(const char* path, char* bytes, size_t size, sn_arena* arena, sn_xml** root,
                       sn_error* err) {
  SN_ASSERT(bytes[size] == 0);
  reader r = {
      .path = path, .at = bytes, .end = bytes + size, .line = 1, .arena = arena, .err = err};
  SN_TRY(SN_ARENA_NEW(arena, 1, root, err));
  **root = (sn_xml){.name = "", .text = ""};
  sn_xml *open = *root, *last[DEPTH_MAX + 1] = {NULL};
  int depth = 0;
  if (starts(&r, "\xef\xbb\xbf")) r.at += 3;
  for (;;) {
    char* before = r.at;
    read_text(&r, open);
    if (open == *root && r.at > before) open->text = "";
    if (r.at == r.end) break;
    char* tag = r.at;
    if (starts(&r, "<!--")) {
      SN_TRY(skip_past(&r, "-->"));
    } else if (starts(&r, "<?") || starts(&r, "<!")) {
      SN_TRY(skip_past(&r, ">"));
    } else if (starts(&r, "</")) {
      if (depth == 0) return fail(&r, "the start of an element");
      SN_TRY(close_element(&r, open));
      open = open->parent;
      --depth;
    } else {
      sn_xml* element;
      bool is_empty;
      if (depth == DEPTH_MAX) return fail(&r, "at most 256 elements within one another");
      SN_TRY(SN_ARENA_NEW(arena, 1, &element, err));
      ++r.at;
      SN_TRY(read_tag(&r, element, &is_empty));
      element->parent = open;
      *(open->first ? &last[depth]->next : &open->first) = element;
      last[depth] = element;
      if (!is_empty) {
        open = element;
        last[++depth] = NULL;
      }
    }
    // The text before ends here.
    *tag = 0;
  }
  return depth == 0 && (*root)->first ? SN_OK : fail(&r, "the end of every element");
}

const sn_xml* sn_xml_child(const sn_xml* within, const char* name) {
  const sn_xml* e = within ? within->first : NULL;
  while (e && strcmp(e->name, name) != 0) e = e->next;
  return e;
}

const sn_xml* sn_xml_again(const sn_xml* element) {
  const sn_xml* e = element->next;
  while (e && strcmp(e->name, element->name) != 0) e = e->next;
  return e;
}

const char* sn_xml_value(const sn_xml* element, const char* attribute) {
  for (const sn_xml_attribute* a = element ? element->attributes : NULL; a; a = a->next) {
    if (strcmp(a->name, attribute) == 0) return a->value;
  }
  return "";
}

const sn_xml* sn_xml_walk(const sn_xml* root, const sn_xml* at) {
  if (at->first) return at->first;
  for (; at != root; at = at->parent) {
    if (at->next) return at->next;
  }
  return NULL;
}

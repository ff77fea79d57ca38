/* Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
 *
 * A program of two shared objects, each with a static addnorm inside: neither sees the other's, be they loaded with
 * their symbols local or global, or be the program linked with both (LINKED).
 * Usage: PROGRAM local|global FIRST SECOND, or PROGRAM */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

struct plugin {
  int (*print_hash)(void);
  const char *(*target)(const char *cap);
};

#ifdef LINKED
int FirstPrintHash(void);
int SecondPrintHash(void);
const char *FirstTarget(const char *cap);
const char *SecondTarget(const char *cap);

static int Find(int argc, char **argv, struct plugin *first, struct plugin *second) {
  (void)argv;
  first->print_hash = FirstPrintHash;
  first->target = FirstTarget;
  second->print_hash = SecondPrintHash;
  second->target = SecondTarget;
  return argc == 1;
}
#else
/* ISO C has no cast from dlsym's object pointer to a function's. */
static int FindFunction(void *object, const char *name, void *function) {
  void *found = dlsym(object, name);
  memcpy(function, &found, sizeof(found));
  return found != NULL;
}

static int Find(int argc, char **argv, struct plugin *first, struct plugin *second) {
  void *objects[2];
  int i;
  if (argc != 4) return 0;
  for (i = 0; i < 2; ++i) {
    objects[i] = dlopen(argv[2 + i], RTLD_NOW | (strcmp(argv[1], "global") == 0 ? RTLD_GLOBAL : RTLD_LOCAL));
    if (objects[i] == NULL) {
      fprintf(stderr, "%s\n", dlerror());
      return 0;
    }
  }
  return FindFunction(objects[0], "FirstPrintHash", &first->print_hash) &&
         FindFunction(objects[0], "FirstTarget", &first->target) &&
         FindFunction(objects[1], "SecondPrintHash", &second->print_hash) &&
         FindFunction(objects[1], "SecondTarget", &second->target);
}
#endif

int main(int argc, char **argv) {
  struct plugin first, second;
  if (!Find(argc, argv, &first, &second)) {
    fprintf(stderr, "the plugins are not there\n");
    return 1;
  }
  if (dlsym(RTLD_DEFAULT, "addnorm_layer_norm") != NULL) {
    fprintf(stderr, "a plugin shows its addnorm to others\n");
    return 1;
  }
  if (strcmp(first.target("scalar"), "scalar") != 0 || strcmp(second.target(NULL), first.target("scalar")) == 0) {
    fprintf(stderr, "a cap set in one plugin is seen in the other\n");
    return 1;
  }
  return first.print_hash() + second.print_hash();
}

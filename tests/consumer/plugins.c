/* Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
 *
 * A program that loads two shared objects, each with a static addnorm inside: neither sees the other's, be their
 * symbols local or global. Usage: PROGRAM local|global FIRST SECOND */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef int (*print_row)(void);
typedef const char *(*target)(const char *);

/* ISO C has no cast from dlsym's object pointer to a function's. */
static void Find(void *plugin, const char *name, void *function) {
  void *found = dlsym(plugin, name);
  memcpy(function, &found, sizeof(found));
}

int main(int argc, char **argv) {
  print_row print[2];
  target cap[2];
  int i, flags;
  if (argc != 4) return 2;
  flags = RTLD_NOW | (strcmp(argv[1], "global") == 0 ? RTLD_GLOBAL : RTLD_LOCAL);
  for (i = 0; i < 2; ++i) {
    void *plugin = dlopen(argv[2 + i], flags);
    if (plugin == NULL) {
      fprintf(stderr, "%s\n", dlerror());
      return 1;
    }
    Find(plugin, "PluginPrintRow", &print[i]);
    Find(plugin, "PluginTarget", &cap[i]);
  }
  if (print[0] == print[1] || dlsym(RTLD_DEFAULT, "addnorm_layer_norm") != NULL) {
    fprintf(stderr, "the plugins are not two, or show an addnorm to others\n");
    return 1;
  }
  if (strcmp(cap[0]("scalar"), "scalar") != 0 || strcmp(cap[1](NULL), cap[0]("scalar")) == 0) {
    fprintf(stderr, "a cap set in one plugin is seen in the other\n");
    return 1;
  }
  return print[0]() + print[1]();
}

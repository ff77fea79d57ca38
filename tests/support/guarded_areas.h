// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// Memory in which an access beyond an operand is a fault.
#ifndef ADDNORM_TESTS_SUPPORT_GUARDED_AREAS_H_
#define ADDNORM_TESTS_SUPPORT_GUARDED_AREAS_H_

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace addnorm_test {

// Areas of memory at equal distances, each between two pages that cannot be accessed.
class GuardedAreas {
 public:
  GuardedAreas(size_t areas, size_t capacity) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    size_ = (capacity + page - 1) / page * page;
    distance_ = size_ + page;
    mapped_ = areas * distance_ + page;
    void* map = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool good = map != MAP_FAILED;
    map_ = static_cast<unsigned char*>(map);
    begin_ = map_ + page;
    for (size_t i = 0; good && i < areas; ++i) good = mprotect(begin(i), size_, PROT_READ | PROT_WRITE) == 0;
    if (!good) {
      std::perror("mmap");
      std::abort();
    }
  }
  ~GuardedAreas() { munmap(map_, mapped_); }
  GuardedAreas(const GuardedAreas&) = delete;
  GuardedAreas& operator=(const GuardedAreas&) = delete;

  unsigned char* begin(size_t area) const { return begin_ + area * distance_; }
  unsigned char* end(size_t area) const { return begin(area) + size_; }
  size_t distance() const { return distance_; }

 private:
  size_t size_;
  size_t distance_;
  size_t mapped_;
  unsigned char* map_;
  unsigned char* begin_;
};

}  // namespace addnorm_test

#endif  // ADDNORM_TESTS_SUPPORT_GUARDED_AREAS_H_

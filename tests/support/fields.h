// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// What the tables of argument structs, args.cc and backward_args.cc, are made with.
#ifndef ADDNORM_TESTS_SUPPORT_FIELDS_H_
#define ADDNORM_TESTS_SUPPORT_FIELDS_H_

#include <cfloat>
#include <cstddef>
#include <cstring>
#include <limits>
#include <vector>

#include "support/args.h"

namespace addnorm_test {

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr bool kRead = false, kWritten = true, kOptional = false, kRequired = true;

template <class Struct, addnorm_status (*kFunction)(const Struct*)>
addnorm_status CallErased(const void* args) {
  return kFunction(static_cast<const Struct*>(args));
}

template <class Struct>
std::vector<unsigned char> Bytes(const Struct& initial) {
  std::vector<unsigned char> bytes(sizeof(Struct));
  std::memcpy(bytes.data(), &initial, sizeof(Struct));
  return bytes;
}

inline std::vector<double> NotFinite() { return {kNaN, -kNaN, kInf, -kInf}; }

inline NumberField Epsilon(size_t offset) {
  return {
      "epsilon", offset, true, {-1.0, -DBL_MIN, -4.9e-324, kNaN, -kNaN, kInf, -kInf}, {0.0, -0.0, 4.9e-324, DBL_MAX}};
}
inline NumberField GammaOffset(size_t offset) {
  return {"gamma_offset", offset, false, NotFinite(), {-1.0, -0.0, FLT_MAX}};
}
inline NumberField ResidualScale(size_t offset) {
  std::vector<double> refused = NotFinite();
  refused.insert(refused.end(), {0.0, -0.0});
  return {"residual_scale", offset, false, refused, {-1.0, FLT_MAX, static_cast<double>(FLT_TRUE_MIN)}};
}

}  // namespace addnorm_test

#endif  // ADDNORM_TESTS_SUPPORT_FIELDS_H_

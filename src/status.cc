// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "src/status.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace addnorm {
namespace {

constexpr std::array<std::string_view, ADDNORM_SMALL_WORKSPACE + 1> kKindTexts = {
    "ok",
    "the pointer is null",
    "no version of the struct has this size, or there are non-zero bytes beyond the fields that this version knows",
    "is negative",
    "is too large",
    "row_stride is smaller than cols (or than 1 for statistics, or is not 0 for gamma, beta and bias, or too small for "
    "a mask)",
    "data is not aligned to its element",
    "the dtype is unknown or not allowed here",
    "this combination of dtypes is not promised, see addnorm_promised_dtypes",
    "is not finite, or is out of range (epsilon must be >= 0, residual_scale not 0, probability 0 to 1)",
    "overlaps another operand in a way that is not allowed",
    "this operation has no such operand",
    "a reserved field is not 0",
    "is 0, and a reduction over nothing has no value",
    "no target of this name is compiled in",
    "the index or enumerator is beyond its list",
    "rows or cols of an operand differ from those of x",
    "mean and rstd have to be given together, or neither",
    "workspace_size is smaller than addnorm_backward_workspace says",
};

constexpr std::array<std::string_view, static_cast<size_t>(Subject::kCount)> kSubjectNames = {"",
                                                                                              "args",
                                                                                              "struct_size",
                                                                                              "rows",
                                                                                              "cols",
                                                                                              "x",
                                                                                              "residual",
                                                                                              "gamma",
                                                                                              "beta",
                                                                                              "bias",
                                                                                              "y",
                                                                                              "sum_out",
                                                                                              "mean",
                                                                                              "rstd",
                                                                                              "variance",
                                                                                              "mean_square",
                                                                                              "rms",
                                                                                              "epsilon",
                                                                                              "gamma_offset",
                                                                                              "residual_scale",
                                                                                              "sum_dtype",
                                                                                              "norm_dtype",
                                                                                              "norm_out_dtype",
                                                                                              "reserved",
                                                                                              "store",
                                                                                              "dy",
                                                                                              "d_sum",
                                                                                              "dx",
                                                                                              "d_residual",
                                                                                              "dgamma",
                                                                                              "dbeta",
                                                                                              "dbias",
                                                                                              "workspace",
                                                                                              "accumulate",
                                                                                              "sums",
                                                                                              "bytes",
                                                                                              "dropout",
                                                                                              "probability",
                                                                                              "mask",
                                                                                              "mask_out"};

// "subject: kind" of each subject with each kind, one after the other, put together at compile time so that every text
// is a fixed string. One array: pointers to as many strings would be larger than all that they point to.
constexpr size_t kTextCount = kSubjectNames.size() * kKindTexts.size();

constexpr size_t TotalSize() {
  size_t size = 0;
  for (const std::string_view name : kSubjectNames) {
    for (const std::string_view kind : kKindTexts) size += name.size() + (name.empty() ? 0 : 2) + kind.size() + 1;
  }
  return size;
}

struct Texts {
  std::array<char, TotalSize()> characters = {};
  std::array<uint16_t, kTextCount> begin = {};
};
static_assert(TotalSize() <= UINT16_MAX);

constexpr Texts MakeTexts() {
  Texts texts;
  size_t at = 0, text = 0;
  for (const std::string_view name : kSubjectNames) {
    for (const std::string_view kind : kKindTexts) {
      texts.begin[text++] = static_cast<uint16_t>(at);
      for (const std::string_view part : {name, std::string_view(name.empty() ? "" : ": "), kind}) {
        for (const char c : part) texts.characters[at++] = c;
      }
      ++at;  // the zero at its end
    }
  }
  return texts;
}

constexpr Texts kTexts = MakeTexts();

}  // namespace
}  // namespace addnorm

extern "C" {

addnorm_status addnorm_status_kind(addnorm_status status) { return status & ((1 << addnorm::kKindBits) - 1); }

const char* addnorm_status_text(addnorm_status status) {
  const uint32_t kind = static_cast<uint32_t>(addnorm_status_kind(status));
  const uint32_t subject = static_cast<uint32_t>(status) >> addnorm::kKindBits;
  if (kind >= addnorm::kKindTexts.size() || subject >= addnorm::kSubjectNames.size()) return "not a status of addnorm";
  return addnorm::kTexts.characters.data() + addnorm::kTexts.begin[subject * addnorm::kKindTexts.size() + kind];
}

}  // extern "C"

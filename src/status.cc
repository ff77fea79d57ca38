// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "src/status.h"

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

namespace addnorm {
namespace {

constexpr std::array<std::string_view, ADDNORM_SMALL_WORKSPACE + 1> kKindTexts = {
    "ok",
    "the pointer is null",
    "no version of the struct has this size, or there are non-zero bytes beyond the fields that this version knows",
    "is negative",
    "is too large",
    "row_stride is smaller than cols (or than 1 for statistics, or is not 0 for gamma, beta and bias)",
    "data is not aligned to its element",
    "the dtype is unknown or not allowed here",
    "this combination of dtypes is not promised, see addnorm_promised_dtypes",
    "is not finite, or is out of range (epsilon must be >= 0, residual_scale not 0)",
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
                                                                                              "bytes"};

// "subject: kind", put together at compile time so that every text is a fixed string.
template <size_t kSubject, size_t kKind>
struct Text {
  static constexpr std::string_view kName = kSubjectNames[kSubject];
  static constexpr std::string_view kFault = kKindTexts[kKind];
  static constexpr size_t kPrefix = kName.empty() ? 0 : kName.size() + 2;

  static constexpr std::array<char, kPrefix + kFault.size() + 1> Make() {
    std::array<char, kPrefix + kFault.size() + 1> text = {};
    for (size_t i = 0; i < kName.size(); ++i) text[i] = kName[i];
    if (kPrefix != 0) {
      text[kName.size()] = ':';
      text[kName.size() + 1] = ' ';
    }
    for (size_t i = 0; i < kFault.size(); ++i) text[kPrefix + i] = kFault[i];
    return text;
  }

  static constexpr auto kText = Make();
};

template <size_t... kCell>
constexpr std::array<const char*, sizeof...(kCell)> MakeTexts(std::index_sequence<kCell...>) {
  return {Text<kCell / kKindTexts.size(), kCell % kKindTexts.size()>::kText.data()...};
}

// By subject, then kind.
constexpr auto kTexts = MakeTexts(std::make_index_sequence<kSubjectNames.size() * kKindTexts.size()>());

}  // namespace
}  // namespace addnorm

extern "C" {

addnorm_status addnorm_status_kind(addnorm_status status) { return status & ((1 << addnorm::kKindBits) - 1); }

const char* addnorm_status_text(addnorm_status status) {
  const uint32_t kind = static_cast<uint32_t>(addnorm_status_kind(status));
  const uint32_t subject = static_cast<uint32_t>(status) >> addnorm::kKindBits;
  if (kind >= addnorm::kKindTexts.size() || subject >= addnorm::kSubjectNames.size()) return "not a status of addnorm";
  return addnorm::kTexts[subject * addnorm::kKindTexts.size() + kind];
}

}  // extern "C"

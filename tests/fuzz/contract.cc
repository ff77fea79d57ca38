// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "contract.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "support/dtype.h"
#include "support/op_case.h"

namespace addnorm_test {
namespace {

using Wide = __int128;
constexpr Wide kNoAddress = Wide{1} << 100;  // rather than a product that overflows

bool IsStorage(addnorm_dtype dtype) { return dtype >= ADDNORM_F32 && dtype <= ADDNORM_BF16; }

// An operand that is given, and the bytes that it spans.
struct Span {
  const OperandField* field;
  addnorm_output operand;
  Wide begin, end;
  Wide stride, row;  // bytes; stride 0 where there is one row
};

Span SpanOf(const OperandField& field, const addnorm_output& operand, int64_t rows, int64_t cols) {
  const Wide size = static_cast<Wide>(DtypeSize(operand.dtype));
  Span span = {&field, operand, static_cast<Wide>(reinterpret_cast<uintptr_t>(operand.data)), 0, 0, 0};
  span.row = size * (field.shape == Shape::kColumn ? 1 : cols);
  if (rows > 1 && field.shape != Shape::kVector) span.stride = size * operand.row_stride;
  const Wide steps = rows > 1 ? rows - 1 : 0;
  span.end =
      span.stride != 0 && steps > kNoAddress / span.stride ? kNoAddress : span.begin + steps * span.stride + span.row;
  return span;
}

Wide FloorDivide(Wide a, Wide b) { return a / b - (a % b < 0 ? 1 : 0); }

// Rows i of a and j of b share a byte iff -b.row < distance - (i - j) * stride < a.row.
bool ShareBytes(const Span& a, const Span& b, int64_t rows) {
  if (a.stride == 0 || a.stride != b.stride) return a.begin < b.end && b.begin < a.end;
  const Wide distance = b.begin - a.begin;
  const Wide last = rows - 1;
  const Wide k = std::max(FloorDivide(distance - a.row, a.stride) + 1, -last);
  return k <= last && k * a.stride < distance + b.row;
}

bool IsInPlace(const Span& output, const Span& other, int64_t rows) {
  return output.field->shape == Shape::kMatrix && other.field->shape == Shape::kMatrix && !other.field->written &&
         output.operand.data == other.operand.data && output.operand.dtype == other.operand.dtype &&
         (rows <= 1 || output.operand.row_stride == other.operand.row_stride);
}

class Judgement {
 public:
  Judgement(const Args& args, const unsigned char* begin, const unsigned char* end, Verdict* verdict)
      : args_(args), op_(args.op()), rows_(args.rows()), cols_(args.cols()), begin_(begin), end_(end), v_(*verdict) {}

  void Run() {
    if (rows_ < 0) v_.Add(ADDNORM_NEGATIVE_SIZE, "rows");
    if (cols_ < 0) v_.Add(ADDNORM_NEGATIVE_SIZE, "cols");
    if (cols_ > ADDNORM_MAX_COLS) v_.Add(ADDNORM_SIZE_TOO_LARGE, "cols");
    empty_ = rows_ == 0 || cols_ == 0;
    if (op_.is_reduction() && cols_ == 0) v_.Add(ADDNORM_EMPTY_REDUCTION, "cols");
    for (const NumberField& field : op_.numbers) Number(field);
    for (const DtypeField& field : op_.dtypes) {
      const addnorm_dtype dtype = args_.Get(field);
      if (dtype != 0 && !IsStorage(dtype)) v_.Add(ADDNORM_UNKNOWN_DTYPE, field.name);
    }
    if (args_.store() < ADDNORM_STORE_AUTOMATIC || args_.store() > ADDNORM_STORE_STREAMING) {
      v_.Add(ADDNORM_OUT_OF_RANGE, "store");
    }
    if (args_.reserved() != 0) v_.Add(ADDNORM_RESERVED_NOT_ZERO, "reserved");
    for (const OperandField& field : op_.unused) {
      if (args_.Get(field).data != nullptr) v_.Add(ADDNORM_UNUSED_OPERAND, field.name);
    }
    for (const OperandField& field : op_.operands) Operand(field);
    if (args_.dropout() != nullptr) Dropout(*args_.dropout());
    if (empty_ || rows_ < 0 || cols_ < 0 || unknown_) return;
    Combination();
    Memory();
  }

 private:
  void Number(const NumberField& field) {
    const double value = args_.Get(field);
    const bool is_epsilon = std::strcmp(field.name, "epsilon") == 0;
    const bool is_scale = std::strcmp(field.name, "residual_scale") == 0;
    if (!std::isfinite(value) || (is_epsilon && value < 0.0) || (is_scale && value == 0.0)) {
      v_.Add(ADDNORM_BAD_NUMBER, field.name);
    }
  }

  // Of a struct whose tail, if it has one, is zero.
  void Dropout(const addnorm_dropout& given) {
    const size_t size = given.struct_size;
    if (size < offsetof(addnorm_dropout, first_row) || size % 8 != 0 || size > Args::kMaxStructSize) {
      return v_.Add(ADDNORM_WRONG_STRUCT_SIZE, "dropout");
    }
    if (!(given.probability >= 0.0 && given.probability <= 1.0)) v_.Add(ADDNORM_BAD_NUMBER, "probability");
    addnorm_dropout dropout = ADDNORM_DROPOUT_INIT;
    std::memcpy(&dropout, &given, std::min(size, sizeof(dropout)));
    if (empty_ || rows_ < 0 || cols_ < 0) return;
    static const OperandField kMask = {"mask", 0, Shape::kColumn, false, false};
    static const OperandField kMaskOut = {"mask_out", 0, Shape::kColumn, true, false};
    if (given.probability != 1.0) Mask(kMask, dropout.mask, dropout.mask_row_stride);
    Mask(kMaskOut, dropout.mask_out, dropout.mask_out_row_stride);
  }

  void Mask(const OperandField& field, const void* data, int64_t stride) {
    if (data == nullptr) return;
    Span span = {&field, {nullptr, 0, 0, 0}, static_cast<Wide>(reinterpret_cast<uintptr_t>(data)), 0, 0, 0};
    span.row = (static_cast<Wide>(cols_) + 7) / 8;
    if (rows_ > 1) {
      if (stride < span.row) return v_.Add(ADDNORM_STRIDE_TOO_SMALL, field.name);
      span.stride = stride;
    }
    span.end = span.stride != 0 && rows_ - 1 > kNoAddress / span.stride
                   ? kNoAddress
                   : span.begin + (rows_ - 1) * span.stride + span.row;
    spans_[span_count_++] = span;
  }

  void Operand(const OperandField& field) {
    const addnorm_output operand = args_.Get(field);
    if (operand.data == nullptr) {
      if (field.required && !empty_) v_.Add(ADDNORM_NULL_POINTER, field.name);
      unknown_ = unknown_ || field.required;
      return;
    }
    if (operand.reserved != 0) v_.Add(ADDNORM_RESERVED_NOT_ZERO, field.name);
    if (rows_ > 1) {
      const bool good = field.shape == Shape::kVector   ? operand.row_stride == 0
                        : field.shape == Shape::kColumn ? operand.row_stride >= 1
                                                        : operand.row_stride >= cols_;
      if (!good) {
        v_.Add(ADDNORM_STRIDE_TOO_SMALL, field.name);
        unknown_ = true;  // where it lies
      }
    }
    const bool statistic = field.shape == Shape::kColumn;
    if (statistic ? operand.dtype != ADDNORM_F32 && operand.dtype != ADDNORM_F64 : !IsStorage(operand.dtype)) {
      v_.Add(ADDNORM_UNKNOWN_DTYPE, field.name);
      unknown_ = true;
      return;
    }
    if (reinterpret_cast<uintptr_t>(operand.data) % DtypeSize(operand.dtype) != 0) {
      v_.Add(ADDNORM_UNALIGNED, field.name);
    }
    spans_[span_count_++] = SpanOf(field, operand, rows_, cols_);
  }

  addnorm_dtype DtypeOf(const char* name) const {
    const OperandField* field = op_.Find(name);
    return field == nullptr ? 0 : args_.Get(*field).dtype;
  }

  void Combination() {
    addnorm_dtypes d = {DtypeOf("x"), DtypeOf("residual"), 0, DtypeOf("y"), 0};
    const OperandField* sum_out = op_.Find("sum_out");
    if (sum_out != nullptr) {
      d.sum = sum_out->required ? args_.Get(*sum_out).dtype : d.residual;
      for (const DtypeField& field : op_.dtypes) {
        if (std::strcmp(field.name, "sum_dtype") == 0 && args_.Get(field) != 0) d.sum = args_.Get(field);
      }
      if (args_.Get(*sum_out).data != nullptr && args_.Get(*sum_out).dtype != d.sum) {
        v_.Add(ADDNORM_UNPROMISED_DTYPES, "sum_out");
      }
    }
    bool promised = false;
    for (const OpCase& op_case : AllOpCases()) {
      const addnorm_dtypes& p = op_case.dtypes;
      if (op_case.op() != op_.op || p.x != d.x || p.residual != d.residual || p.sum != d.sum || p.y != d.y) continue;
      promised = true;
      d.vectors = p.vectors;
    }
    if (!promised) v_.Add(ADDNORM_UNPROMISED_DTYPES, "x");
    for (size_t i = 0; promised && i < span_count_; ++i) {
      const Span& s = spans_[i];
      if (s.field->shape == Shape::kVector && s.operand.dtype != ADDNORM_F32 && s.operand.dtype != d.vectors) {
        v_.Add(ADDNORM_UNPROMISED_DTYPES, s.field->name);
      }
    }
  }

  void Memory() {
    bool nowhere = false;
    for (size_t i = 0; i < span_count_; ++i) {
      const Span& s = spans_[i];
      // The library may call what no memory can hold too large.
      const bool certain = s.end >= Wide{1} << 64;  // not even the address behind it exists
      if (certain || s.end - s.begin >= Wide{1} << 48) v_.Add(ADDNORM_SIZE_TOO_LARGE, s.field->name, certain);
      nowhere = nowhere || (certain && s.operand.data != nullptr);  // masks are looked at last
      v_.in_reach = v_.in_reach && s.begin >= static_cast<Wide>(reinterpret_cast<uintptr_t>(begin_)) &&
                    s.end <= static_cast<Wide>(reinterpret_cast<uintptr_t>(end_));
    }
    for (size_t i = 0; !nowhere && i < span_count_; ++i) {
      const Span& s = spans_[i];
      for (size_t j = 0; s.field->written && j < span_count_; ++j) {
        if (j != i && ShareBytes(s, spans_[j], rows_) && !IsInPlace(s, spans_[j], rows_)) {
          v_.Add(ADDNORM_FORBIDDEN_OVERLAP, s.field->name);
          if (std::strcmp(spans_[j].field->name, "mask") == 0) v_.Add(ADDNORM_FORBIDDEN_OVERLAP, "mask");
        }
      }
    }
  }

  const Args& args_;
  const OpFields& op_;
  const int64_t rows_, cols_;
  const unsigned char *begin_, *end_;
  Verdict& v_;
  bool empty_ = false;
  bool unknown_ = false;  // an operand is so wrong that nothing can be said of its dtype or place
  std::array<Span, kOperands + 2> spans_;
  size_t span_count_ = 0;
};

}  // namespace

void Verdict::Add(addnorm_status kind, const char* subject, bool certain) {
  faults_[count_++] = {kind, subject, certain};
  refused_ = refused_ || certain;
}

bool Verdict::Names(addnorm_status status) const {
  const char* text = addnorm_status_text(status);
  return std::any_of(faults_.begin(), faults_.begin() + static_cast<ptrdiff_t>(count_), [&](const Fault& fault) {
    const size_t length = std::strlen(fault.subject);
    return addnorm_status_kind(status) == fault.kind && std::strncmp(text, fault.subject, length) == 0 &&
           text[length] == ':';
  });
}

Verdict Judge(const Args& given, const unsigned char* begin, const unsigned char* end, Args* effective) {
  Verdict verdict;
  const OpFields& op = given.op();
  const size_t size = given.struct_size();
  bool good = size >= op.required_size && size % 8 == 0 && size <= Args::kMaxStructSize;
  for (size_t i = op.size; good && i < size; ++i) good = given.bytes()[i] == 0;
  if (!good) {
    verdict.Add(ADDNORM_WRONG_STRUCT_SIZE, "struct_size");
    return verdict;
  }
  *effective = Args(op);
  std::memcpy(effective->bytes(), given.bytes(), std::min(size, op.size));
  Judgement(*effective, begin, end, &verdict).Run();
  return verdict;
}

}  // namespace addnorm_test

// addnorm: views of the operands of a call.
// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#ifndef ADDNORM_VIEWS_HPP_
#define ADDNORM_VIEWS_HPP_

/** @file
 * Views of operands in memory that carry their element type and shape. Included by addnorm.hpp. */

#include <cstdint>
#include <type_traits>

#include "addnorm/addnorm.h"
#include "addnorm/dtypes.hpp"

namespace addnorm {

/** @cond internal */
namespace detail {
inline constexpr int64_t kAnyExtent = -1;  // of a vector's rows and a column's cols: fits every shape
}  // namespace detail
/** @endcond */

/** A view of rows x cols elements, each row contiguous. `Matrix<const T>` is read, `Matrix<T>` may be written. */
template <typename T>
class Matrix {
  static_assert(detail::kDType<T> != DType::kF64, "elements are float, addnorm::float16 or addnorm::bfloat16");

 public:
  /** No matrix: an absent optional operand. */
  constexpr Matrix() noexcept = default;
  /** Rows one after the other, without gaps. */
  constexpr Matrix(T* data, int64_t rows, int64_t cols) noexcept : Matrix(data, rows, cols, cols) {}
  /** Rows that start `row_stride` elements apart. */
  constexpr Matrix(T* data, int64_t rows, int64_t cols, int64_t row_stride) noexcept
      : data_(data), rows_(rows), cols_(cols), row_stride_(row_stride) {}

  constexpr T* data() const noexcept { return data_; }                  /**< first element */
  constexpr int64_t rows() const noexcept { return rows_; }             /**< number of rows */
  constexpr int64_t cols() const noexcept { return cols_; }             /**< elements in a row */
  constexpr int64_t row_stride() const noexcept { return row_stride_; } /**< elements between two rows' starts */
  /** The first element of a row. */
  constexpr T* row(int64_t index) const noexcept { return data_ + index * row_stride_; }
  /** `count` rows from `first` on, e.g. the part of one thread. */
  constexpr Matrix row_range(int64_t first, int64_t count) const noexcept {
    return Matrix(row(first), count, cols_, row_stride_);
  }

 private:
  T* data_ = nullptr;
  int64_t rows_ = 0;
  int64_t cols_ = 0;
  int64_t row_stride_ = 0;
};

/** One vector that all rows share; what Vector and ParameterGradient have in common. */
template <typename T>
class SharedVector {
 public:
  /** No vector: an absent optional operand, as is one with null data. */
  constexpr SharedVector() noexcept = default;
  /** `size` elements; has to equal the number of columns. */
  constexpr SharedVector(T* data, int64_t size) noexcept : data_(data), size_(size) {}

  constexpr T* data() const noexcept { return data_; }      /**< first element */
  constexpr int64_t size() const noexcept { return size_; } /**< number of elements */
  /** @cond internal */
  constexpr int64_t rows() const noexcept { return detail::kAnyExtent; }
  constexpr int64_t cols() const noexcept { return size_; }
  constexpr int64_t row_stride() const noexcept { return 0; }
  /** @endcond */

 private:
  T* data_ = nullptr;
  int64_t size_ = 0;
};

/** A view of one vector that serves all rows: gamma, beta or bias. */
template <typename T>
class Vector : public SharedVector<T> {
  static_assert(detail::kDType<T> != DType::kF64, "elements are float, addnorm::float16 or addnorm::bfloat16");

 public:
  using SharedVector<T>::SharedVector;
};
/** The element type is that of the data. */
template <typename T>
Vector(T*, int64_t) -> Vector<T>;

/** A view of one value for each row, float or double: a statistic that is written. */
template <typename T>
class Column {
  static_assert(detail::kDType<T> == DType::kF32 || detail::kDType<T> == DType::kF64, "elements are float or double");

 public:
  /** No column: an absent optional operand, as is one with null data. */
  constexpr Column() noexcept = default;
  /** `size` values, `stride` elements apart; size has to equal the number of rows. */
  constexpr Column(T* data, int64_t size, int64_t stride = 1) noexcept : data_(data), size_(size), stride_(stride) {}

  constexpr T* data() const noexcept { return data_; }          /**< first value */
  constexpr int64_t size() const noexcept { return size_; }     /**< number of values */
  constexpr int64_t stride() const noexcept { return stride_; } /**< elements between two values */
  /** @cond internal */
  constexpr int64_t rows() const noexcept { return size_; }
  constexpr int64_t cols() const noexcept { return detail::kAnyExtent; }
  constexpr int64_t row_stride() const noexcept { return stride_; }
  /** @endcond */

 private:
  T* data_ = nullptr;
  int64_t size_ = 0;
  int64_t stride_ = 1;
};

/** Any View<T> as an argument: the element type becomes a DType, so that types mix without a template for each mix.
 * Void is `const void` where the operand is read, `void` where it is written. */
template <template <typename> class View, typename Void>
class Any {
 public:
  /** An absent operand. */
  constexpr Any() noexcept = default;
  /** Implicit: an operand is given as a view. */
  template <typename T, typename = std::enable_if_t<std::is_convertible_v<T*, Void*>>>
  constexpr Any(View<T> view) noexcept  // NOLINT(google-explicit-constructor)
      : data_(view.data()),
        rows_(view.rows()),
        cols_(view.cols()),
        row_stride_(view.row_stride()),
        dtype_(static_cast<addnorm_dtype>(detail::kDType<T>)) {}

  constexpr int64_t rows() const noexcept { return rows_; } /**< as in the view */
  constexpr int64_t cols() const noexcept { return cols_; } /**< as in the view */
  /** Absent, or of this shape. */
  constexpr bool fits(int64_t rows, int64_t cols) const noexcept {
    return data_ == nullptr ||
           ((rows_ == rows || rows_ == detail::kAnyExtent) && (cols_ == cols || cols_ == detail::kAnyExtent));
  }
  /** The operand of addnorm.h. */
  constexpr auto operand() const noexcept {
    return std::conditional_t<std::is_const_v<Void>, addnorm_input, addnorm_output>{data_, row_stride_, dtype_, 0};
  }

 private:
  Void* data_ = nullptr;
  int64_t rows_ = 0;
  int64_t cols_ = 0;
  int64_t row_stride_ = 0;
  addnorm_dtype dtype_ = 0;
};

using MatrixIn = Any<Matrix, const void>; /**< a matrix that is read */
using MatrixOut = Any<Matrix, void>;      /**< a matrix that is written */
using VectorIn = Any<Vector, const void>; /**< gamma, beta or bias */
using ColumnOut = Any<Column, void>;      /**< a statistic that is written */

}  // namespace addnorm

#endif  // ADDNORM_VIEWS_HPP_

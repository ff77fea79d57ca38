// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// The argument structs of addnorm.h as data: what fields each operation has, where they are and what they may hold, so
// that tests of the contract walk one table instead of repeating a call for each operation.
#ifndef ADDNORM_TESTS_SUPPORT_ARGS_H_
#define ADDNORM_TESTS_SUPPORT_ARGS_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "addnorm/training.h"

namespace addnorm_test {

enum class Shape { kMatrix, kVector, kColumn };  // rows x cols, cols, rows

// An operand of an operation.
struct OperandField {
  const char* name;
  size_t offset;
  Shape shape;
  bool written;
  bool required;
  addnorm_dtype addnorm_dtypes::* dtype = nullptr;  // of a gradient: which of the forward operands' dtypes it has
};

// A number that is an option (or epsilon).
struct NumberField {
  const char* name;
  size_t offset;
  bool is_double;
  std::vector<double> refused;
  std::vector<double> accepted;
};

// An option that is a dtype.
struct DtypeField {
  const char* name;
  size_t offset;
};

struct OpFields {
  addnorm_op op;
  const char* name;  // without the prefix addnorm_
  addnorm_status (*call)(const void*);
  size_t size;                         // of the argument struct
  size_t required_size;                // where its optional part begins
  size_t parallel;                     // offset of the addnorm_parallel
  std::vector<unsigned char> initial;  // the _INIT macro, with an epsilon that is accepted
  std::vector<OperandField> operands;  // those that the operation has
  std::vector<OperandField> unused;    // those that only its struct has
  std::vector<NumberField> numbers;
  std::vector<DtypeField> dtypes;
  // Offsets of what few structs have; 0 where there is none.
  size_t workspace = 0;  // the pointer, which its size follows
  size_t store = 0;      // the addnorm_store
  size_t reserved = 0;   // the struct's own
  size_t dropout = 0;    // the pointer to an addnorm_dropout

  bool is_backward() const { return op >= ADDNORM_OP_ADD_BACKWARD; }
  // Whether it is one of those that drop out: the backward norms' struct has the field for others too.
  bool drops_out() const;
  bool is_reduction() const { return op <= ADDNORM_OP_RMS; }
  const OperandField* Find(const std::string& operand) const;  // null where the operation has no such operand
};

// Every forward operation, in the order of the ADDNORM_OP_ constants.
const std::vector<OpFields>& AllOpFields();
// Every backward operation, likewise.
const std::vector<OpFields>& BackwardOpFields();

// The promised dtypes of an operation, as addnorm_promised_dtypes gives them.
std::vector<addnorm_dtypes> PromisedDtypes(addnorm_op op);

// An argument struct of any operation. addnorm_input and addnorm_output have one layout: operands are accessed as the
// latter.
class Args {
 public:
  explicit Args(const OpFields& op);

  const OpFields& op() const { return *op_; }
  addnorm_output Get(const OperandField& field) const { return Load<addnorm_output>(field.offset); }
  void Set(const OperandField& field, const addnorm_output& operand) { Store(field.offset, operand); }
  double Get(const NumberField& field) const {
    return field.is_double ? Load<double>(field.offset) : static_cast<double>(Load<float>(field.offset));
  }
  void Set(const NumberField& field, double value);
  addnorm_dtype Get(const DtypeField& field) const { return Load<addnorm_dtype>(field.offset); }
  void Set(const DtypeField& field, addnorm_dtype dtype) { Store(field.offset, dtype); }
  addnorm_store store() const { return op_->store != 0 ? Load<addnorm_store>(op_->store) : ADDNORM_STORE_AUTOMATIC; }
  void set_store(addnorm_store store) { Store(op_->store, store); }
  int32_t reserved() const { return op_->reserved != 0 ? Load<int32_t>(op_->reserved) : 0; }
  void set_reserved(int32_t value) { Store(op_->reserved, value); }

  int64_t rows() const { return Load<int64_t>(sizeof(size_t)); }
  int64_t cols() const { return Load<int64_t>(sizeof(size_t) + 8); }
  void set_rows(int64_t rows) { Store(sizeof(size_t), rows); }
  void set_cols(int64_t cols) { Store(sizeof(size_t) + 8, cols); }
  void set_parallel(const addnorm_parallel& parallel) { Store(op_->parallel, parallel); }
  void* workspace() const { return Load<void*>(op_->workspace); }
  size_t workspace_size() const { return Load<size_t>(op_->workspace + sizeof(void*)); }
  void set_workspace(void* data, size_t size) {
    Store(op_->workspace, data);
    Store(op_->workspace + sizeof(void*), size);
  }
  const addnorm_dropout* dropout() const {
    return op_->dropout != 0 ? Load<const addnorm_dropout*>(op_->dropout) : nullptr;
  }
  void set_dropout(const addnorm_dropout* dropout) { Store(op_->dropout, dropout); }
  void set_int(size_t offset, int32_t value) { Store(offset, value); }
  size_t struct_size() const { return Load<size_t>(0); }
  void set_struct_size(size_t size) { Store(0, size); }
  unsigned char* bytes() { return bytes_; }
  const unsigned char* bytes() const { return bytes_; }

  addnorm_status Call() const { return op_->call(bytes_); }

  static constexpr size_t kMaxStructSize = 4096;  // no version's struct will be larger
  static constexpr size_t kCapacity = kMaxStructSize + 64;

 private:
  template <class T>
  T Load(size_t offset) const {
    T value;
    std::memcpy(&value, bytes_ + offset, sizeof(value));
    return value;
  }
  template <class T>
  void Store(size_t offset, const T& value) {
    std::memcpy(bytes_ + offset, &value, sizeof(value));
  }

  const OpFields* op_;
  alignas(8) unsigned char bytes_[kCapacity] = {};
};

}  // namespace addnorm_test

#endif  // ADDNORM_TESTS_SUPPORT_ARGS_H_

// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// The C interface, given any arguments. What comes out is a status that names a fault of the call and memory as it was,
// or the right result within its bound and no other byte changed.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "addnorm/addnorm.h"
#include "call.h"
#include "contract.h"
#include "input.h"
#include "support/evaluate.h"
#include "support/oracle.h"
#include "support/targets.h"

namespace addnorm_test {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kSizes[] = {-1,
                              0,
                              1,
                              2,
                              3,
                              16,
                              ADDNORM_MAX_COLS,
                              ADDNORM_MAX_COLS + 1,
                              kMax,
                              kMax / 2,
                              kMax / 4 + 1,
                              kMax / 16,
                              kMin,
                              int64_t{1} << 32,
                              int64_t{1} << 62};

int64_t Size(FuzzInput& in) {
  const size_t choice = in.Below(32);
  if (choice < 12) return static_cast<int64_t>(in.Below(64));
  if (choice == 12) return in.Take<int64_t>();
  return in.OneOf(kSizes);
}

void* Pointer(FuzzInput& in, const Args& args) {
  const std::vector<OperandField>& fields = args.op().operands;
  switch (in.Below(4)) {
    case 0:
      return FuzzCall::memory() + in.Take<uint16_t>() % kFuzzMemory;
    case 1:  // near another operand, or the same
      return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(args.Get(fields[in.Below(fields.size())]).data) +
                                     static_cast<uintptr_t>(in.Take<int8_t>()));
    case 2:
      return args.Get(fields[in.Below(fields.size())]).data;
    default:
      return in.Below(2) == 0 ? nullptr : reinterpret_cast<void*>(in.Take<uintptr_t>());
  }
}

void SpoilOperand(FuzzInput& in, Args& args) {
  const OpFields& op = args.op();
  const size_t choice = in.Below(op.operands.size() + op.unused.size());
  const OperandField& field =
      choice < op.operands.size() ? op.operands[choice] : op.unused[choice - op.operands.size()];
  addnorm_output operand = args.Get(field);
  switch (in.Below(8)) {
    case 0:
      operand.row_stride = Size(in);
      break;
    case 1:
      operand.dtype = in.Below(4) == 0 ? in.Take<int32_t>() : static_cast<addnorm_dtype>(in.Below(6));
      break;
    case 2:
      operand.reserved = in.Take<int32_t>();
      break;
    case 3:  // one operand as another
      operand = args.Get(op.operands[in.Below(op.operands.size())]);
      break;
    default:
      operand.data = Pointer(in, args);
      break;
  }
  args.Set(field, operand);
}

void Spoil(FuzzInput& in, Args& args) {
  const OpFields& op = args.op();
  switch (in.Below(16)) {
    case 0: {
      const size_t sizes[] = {op.required_size,     op.size,
                              op.required_size + 8, op.size + 8 * in.Below(64),
                              op.required_size - 8, in.Below(2) == 0 ? in.Take<uint16_t>() : in.Take<size_t>()};
      args.set_struct_size(in.OneOf(sizes));
      break;
    }
    case 1:
      args.set_rows(Size(in));
      break;
    case 2:
      args.set_cols(Size(in));
      break;
    case 3:
      if (!op.numbers.empty()) {
        const NumberField& field = op.numbers[in.Below(op.numbers.size())];
        const bool usual = in.Below(2) == 0;
        args.Set(field, usual ? field.refused[in.Below(field.refused.size())] : F64OfBits(in.Take<uint64_t>()));
      }
      break;
    case 4:
      if (!op.dtypes.empty()) {
        args.Set(op.dtypes[in.Below(op.dtypes.size())], static_cast<addnorm_dtype>(in.Take<int8_t>() % 8));
      } else if (op.store != 0) {
        args.set_store(in.Take<int32_t>());
      }
      break;
    case 5:
    case 6: {  // any bytes, in the struct or behind it
      const size_t at = in.Take<uint16_t>() % (op.size + 64);
      const uint64_t bytes = in.Take<uint64_t>();
      std::memcpy(args.bytes() + at, &bytes, 1 + in.Below(8));
      break;
    }
    default:
      SpoilOperand(in, args);
      break;
  }
}

// Dropout with any fields; its masks mostly lie in the memory.
const addnorm_dropout* AnyDropout(FuzzInput& in, const Args& args) {
  static addnorm_dropout dropout;
  dropout = ADDNORM_DROPOUT_INIT;
  const size_t sizes[] = {sizeof(dropout), sizeof(dropout), offsetof(addnorm_dropout, first_row), 16, 28, 4104};
  dropout.struct_size = in.OneOf(sizes);
  constexpr double kProbabilities[] = {0.5, 0.1, 0.0, 1.0, 0.9, 1.5, -1.0};
  dropout.probability = in.Below(8) == 0 ? F64OfBits(in.Take<uint64_t>()) : in.OneOf(kProbabilities);
  dropout.seed = in.Take<uint32_t>();
  dropout.first_row = in.Take<uint64_t>();
  const auto stride = [&] { return in.Below(2) == 0 ? args.cols() / 8 + (args.cols() % 8 != 0 ? 1 : 0) : Size(in); };
  if (in.Below(2) == 0) dropout.mask = static_cast<const uint8_t*>(Pointer(in, args));
  dropout.mask_row_stride = stride();
  if (in.Below(2) == 0) dropout.mask_out = static_cast<uint8_t*>(Pointer(in, args));
  dropout.mask_out_row_stride = stride();
  return &dropout;
}

// Hands out the rows backwards, one by one, and ranges that are to be left out.
void AnyRanges(void* /*context*/, int64_t rows, addnorm_range_body body, void* task) {
  body(task, -1, rows);
  body(task, 0, rows + 1);
  for (int64_t row = rows; row > 0; --row) body(task, row - 1, row);
  body(task, rows, 0);
}

// The operands of a call as the oracle takes them, widened before the call is made.
class OracleInputs {
 public:
  void Read(const Args& args) {
    args_ = &args;
    for (std::vector<float>& values : values_) values.clear();
    for (const OperandField& field : args.op().operands) {
      const addnorm_output operand = args.Get(field);
      if (field.written || operand.data == nullptr) continue;
      std::vector<float>& values = values_[OperandOf(field)];
      const int64_t rows = field.shape == Shape::kVector ? 1 : args.rows();
      values.resize(static_cast<size_t>(rows * args.cols()));
      for (int64_t row = 0; row < rows; ++row) {
        const int64_t start = rows > 1 ? row * operand.row_stride : 0;
        for (int64_t col = 0; col < args.cols(); ++col) {
          values[static_cast<size_t>(row * args.cols() + col)] =
              static_cast<float>(LoadValue(operand.data, start + col, operand.dtype));
        }
      }
    }
    if (args.dropout() != nullptr) ReadMask(KnownPart(*args.dropout()));
  }

  // What struct_size leaves out has its default.
  static addnorm_dropout KnownPart(const addnorm_dropout& given) {
    addnorm_dropout dropout = ADDNORM_DROPOUT_INIT;
    std::memcpy(&dropout, &given, std::min(given.struct_size, sizeof(dropout)));
    return dropout;
  }

  // Whether mask_out has the bits that it has to have.
  bool IsMask(int64_t row, const uint8_t* bytes) const {
    for (int64_t bit = 0; bit < (args_->cols() + 7) / 8 * 8; ++bit) {
      const bool kept = bit < args_->cols() && kept_[static_cast<size_t>(row * args_->cols() + bit)] != 0;
      if (((bytes[bit / 8] >> (bit % 8) & 1) != 0) != kept) return false;
    }
    return true;
  }

  OracleRow Row(int64_t row) const {
    const Args& args = *args_;
    const auto values = [&](Operand operand, int64_t r) -> const float* {
      const std::vector<float>& all = values_[operand];
      return all.empty() ? nullptr : all.data() + r * args.cols();
    };
    OracleRow r;
    r.op = args.op().op;
    r.cols = args.cols();
    r.x = values(kX, row);
    r.residual = values(kResidual, row);
    r.gamma = values(kGamma, 0);
    r.beta = values(kBeta, 0);
    r.bias = values(kBias, 0);
    for (const NumberField& field : args.op().numbers) {
      const double value = args.Get(field);
      if (std::strcmp(field.name, "epsilon") == 0) r.epsilon = value;
      if (std::strcmp(field.name, "residual_scale") == 0) r.residual_scale = static_cast<float>(value);
      if (std::strcmp(field.name, "gamma_offset") == 0) r.gamma_offset = static_cast<float>(value);
    }
    const auto dtype = [&](const char* name) {
      const OperandField* field = args.op().Find(name);
      return field == nullptr ? ADDNORM_F32 : args.Get(*field).dtype;
    };
    r.sum_dtype = r.op == ADDNORM_OP_ADD ? dtype("sum_out") : dtype("residual");
    r.norm_out_dtype = dtype("x");
    for (const DtypeField& field : args.op().dtypes) {
      const addnorm_dtype given = args.Get(field);
      if (given == 0) continue;
      if (std::strcmp(field.name, "sum_dtype") == 0) r.sum_dtype = given;
      if (std::strcmp(field.name, "norm_dtype") == 0) r.norm_dtype = given;
      if (std::strcmp(field.name, "norm_out_dtype") == 0) r.norm_out_dtype = given;
    }
    if (args.dropout() != nullptr) {
      r.kept = kept_.data() + row * args.cols();
      DropoutOptions dropout;
      dropout.probability = args.dropout()->probability;
      r.dropout_scale = dropout.Scale();
    }
    return r;
  }

 private:
  void ReadMask(const addnorm_dropout& dropout) {
    DropoutOptions options;
    options.probability = dropout.probability;
    options.seed = dropout.seed;
    options.first_row = dropout.first_row;
    kept_.clear();
    for (int64_t row = 0; row < args_->rows(); ++row) {
      const uint8_t* mask = dropout.probability != 1.0 ? dropout.mask : nullptr;
      if (mask != nullptr && row != 0) mask += row * dropout.mask_row_stride;
      for (int64_t col = 0; col < args_->cols(); ++col) {
        kept_.push_back(mask != nullptr ? mask[col / 8] >> (col % 8) & 1 : options.IsKept(row, col) ? 1 : 0);
      }
    }
  }

  std::vector<unsigned char> kept_;
  const Args* args_ = nullptr;
  std::array<std::vector<float>, kOperands> values_;
};

template <class AnyOracle>
Evaluation EvaluateRowWith(AnyOracle& oracle, const OracleRow& row, const CallOutputs& written, int64_t index) {
  Evaluation evaluation;
  EvaluateRow(written, index, oracle.Compute(row), &evaluation);
  return evaluation;
}

// Every element of every output, against its bound; MPFR has the last word.
void CheckResults(const Args& args, const OracleInputs& inputs) {
  static QuickOracle quick;
  static Oracle oracle;
  const CallOutputs written(args, args.op().name, "fuzzed");
  for (int64_t row = 0; row < args.rows(); ++row) {
    const OracleRow wanted = inputs.Row(row);
    if (EvaluateRowWith(quick, wanted, written, row).failures == 0) continue;
    const Evaluation exact = EvaluateRowWith(oracle, wanted, written, row);
    if (exact.failures != 0) Fail(args, "%s", exact.first_failure.c_str());
  }
  if (args.dropout() == nullptr) return;
  const addnorm_dropout dropout = OracleInputs::KnownPart(*args.dropout());
  for (int64_t row = 0; row < args.rows() && dropout.mask_out != nullptr; ++row) {
    const uint8_t* bytes = dropout.mask_out + (row != 0 ? row * dropout.mask_out_row_stride : 0);
    if (!inputs.IsMask(row, bytes)) Fail(args, "mask_out of row %lld is wrong", static_cast<long long>(row));
  }
}

// Puts the outputs' elements back as they were; everything else has to be so already.
void CheckUntouched(const Args& args, const unsigned char* before) {
  unsigned char* memory = FuzzCall::memory();
  for (const OperandField& field : args.op().operands) {
    const addnorm_output operand = args.Get(field);
    if (!field.written || operand.data == nullptr) continue;
    const size_t size = DtypeSize(operand.dtype);
    const size_t row_bytes = size * static_cast<size_t>(field.shape == Shape::kColumn ? 1 : args.cols());
    const size_t start = static_cast<size_t>(static_cast<unsigned char*>(operand.data) - memory);
    for (int64_t row = 0; row < args.rows(); ++row) {
      const size_t at = start + (args.rows() > 1 ? static_cast<size_t>(row * operand.row_stride) * size : 0);
      std::memcpy(memory + at, before + at, row_bytes);
    }
  }
  if (args.dropout() != nullptr) {
    const addnorm_dropout dropout = OracleInputs::KnownPart(*args.dropout());
    for (int64_t row = 0; row < args.rows() && dropout.mask_out != nullptr; ++row) {
      const auto at = static_cast<size_t>(dropout.mask_out - memory) +
                      (row != 0 ? static_cast<size_t>(row * dropout.mask_out_row_stride) : 0);
      std::memcpy(memory + at, before + at, static_cast<size_t>((args.cols() + 7) / 8));
    }
  }
  if (std::memcmp(memory, before, kFuzzMemory) != 0) Fail(args, "a byte outside of the outputs changed");
}

void CheckCall(const Args& given) {
  static unsigned char before[kFuzzMemory];
  static OracleInputs inputs;
  unsigned char* memory = FuzzCall::memory();
  Args args(given.op());
  const Verdict verdict = Judge(given, memory, memory + kFuzzMemory, &args);
  const bool empty = args.rows() == 0 || args.cols() == 0;
  if (!verdict.refused() && !empty && !verdict.in_reach) return;  // would rightly access what is not there
  std::memcpy(before, memory, kFuzzMemory);
  if (!verdict.refused() && !empty) inputs.Read(args);
  const Args unchanged = given;
  const addnorm_status status = given.Call();
  if (std::memcmp(given.bytes(), unchanged.bytes(), Args::kCapacity) != 0) Fail(given, "the arguments changed");
  if (verdict.refused() || empty) {
    if (verdict.refused() ? !verdict.Names(status) : status != ADDNORM_OK) {
      Fail(given, "status %d: %s", static_cast<int>(status), addnorm_status_text(status));
    }
    if (std::memcmp(before, memory, kFuzzMemory) != 0) Fail(given, "a byte changed, but nothing was to do");
    return;
  }
  if (status != ADDNORM_OK) Fail(given, "refused: %s", addnorm_status_text(status));
  CheckResults(args, inputs);
  CheckUntouched(args, before);
}

}  // namespace
}  // namespace addnorm_test

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace addnorm_test;
  FuzzInput in(data, size);
  const std::string& target = SupportedTargets()[in.Below(SupportedTargets().size())];
  const size_t faults = in.Below(4);
  const ScopedTarget scoped(target);
  FuzzCall call(&in);
  for (size_t i = 0; i < faults; ++i) Spoil(in, call.args());
  // Any other function would be called, rightly.
  call.args().set_parallel({in.Below(4) == 0 ? AnyRanges : nullptr, nullptr});
  if (call.args().op().dropout != 0) {
    call.args().set_dropout(in.Below(4) % 2 == 1 ? AnyDropout(in, call.args()) : nullptr);
  }
  CheckCall(call.args());
  return 0;
}

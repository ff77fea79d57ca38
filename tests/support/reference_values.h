// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// Values that were computed elsewhere, from the files that tests/data/README.md describes.
#ifndef ADDNORM_TESTS_SUPPORT_REFERENCE_VALUES_H_
#define ADDNORM_TESTS_SUPPORT_REFERENCE_VALUES_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace addnorm_test {

struct ReferenceTensor {
  std::vector<int64_t> shape;
  std::vector<double> values;  // F16 and F32 are widened
};

// All tensors of a file.
class ReferenceValues {
 public:
  // The committed file `name` of this format, or what the environment variable ADDNORM_REFERENCE names in place of it:
  // a file of the format, or a folder with a file of the same name. Where it names a file of the other format, which
  // other tests read, the committed one; throws if it is of none.
  ReferenceValues(const std::string& format, const std::string& name);

  const std::string& path() const { return path_; }
  bool is_committed() const { return is_committed_; }

  // Both throw std::runtime_error where there is none.
  const std::string& metadata(const std::string& key) const;
  const ReferenceTensor& operator[](const std::string& name) const;

  bool Has(const std::string& name) const { return tensors_.count(name) != 0; }
  const std::map<std::string, ReferenceTensor>& tensors() const { return tensors_; }

 private:
  std::string path_;
  bool is_committed_ = false;
  std::map<std::string, std::string> metadata_;
  std::map<std::string, ReferenceTensor> tensors_;
};

}  // namespace addnorm_test

#endif  // ADDNORM_TESTS_SUPPORT_REFERENCE_VALUES_H_

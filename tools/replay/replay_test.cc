// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// addnorm-replay on good captures, and on ones broken here in one place each.
#include "replay.h"

#include <addnorm/addnorm.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>

namespace addnorm_test::replay {
namespace {

using Json = nlohmann::ordered_json;

const char kMiniLm[] = ADDNORM_TEST_DATA "/minilm-post-ln.safetensors";
const char kSmolLm[] = ADDNORM_TEST_DATA "/smollm2-pre-rms.safetensors";

std::string ReadFile(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

// A capture taken apart, for a test to break.
struct Parts {
  Json header;
  std::string data;

  static Parts Of(const std::string& path) {
    const std::string file = ReadFile(path);
    uint64_t length;
    std::memcpy(&length, file.data(), sizeof(length));
    return {Json::parse(file.substr(8, length)), file.substr(8 + length)};
  }

  Json& metadata(const char* key) { return header["__metadata__"][key]; }
  Json& field(const char* tensor, const char* key) { return header[tensor][key]; }

  template <typename T>
  void Patch(const char* tensor, size_t element, const std::function<T(T)>& change) {
    const size_t at = header[tensor]["data_offsets"][0].get<size_t>() + element * sizeof(T);
    T value;
    std::memcpy(&value, &data[at], sizeof(value));
    value = change(value);
    std::memcpy(&data[at], &value, sizeof(value));
  }

  template <typename T>
  void SetPair(const char* tensor, const char* key, T first, T second) {
    field(tensor, key) = Json::array({first, second});
  }

  // Moves one value by ULPs.
  void MoveByUlp(const char* tensor, size_t element, int32_t ulp) {
    Patch<int32_t>(tensor, element, [ulp](int32_t bits) { return bits + ulp; });
  }

  std::string File() const { return FileWithHeader(header.dump()); }
  std::string FileWithHeader(const std::string& text) const {
    const uint64_t length = text.size();
    std::string file(sizeof(length), '\0');
    std::memcpy(file.data(), &length, sizeof(length));
    return file + text + data;
  }
};

struct Outcome {
  int code;
  std::string out;
  std::string err;
};

Outcome RunReplay(const std::vector<std::string>& arguments) {
  std::ostringstream out, err;
  const int code = Replay(arguments, out, err);
  return {code, out.str(), err.str()};
}

class ReplayTest : public testing::Test {
 protected:
  void SetUp() override {
    const testing::TestInfo* info = testing::UnitTest::GetInstance()->current_test_info();
    path_ = testing::TempDir() + "addnorm_replay_" + info->name() + ".safetensors";
  }
  void TearDown() override {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }

  std::string Write(const std::string& bytes) {
    std::ofstream stream(path_, std::ios::binary);
    stream << bytes;
    return path_;
  }

  // The file is refused with its name and the fault, nothing is reported for it, and the good capture beside it still
  // is.
  void ExpectRefused(const std::string& bytes, const std::string& fault) {
    Write(bytes);
    const Outcome outcome = RunReplay({"--target", "scalar", path_});
    EXPECT_EQ(outcome.code, kExitFailed);
    EXPECT_NE(outcome.err.find("addnorm-replay: " + path_ + ": "), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find(fault), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }

  // One change to the good capture's parts.
  void ExpectBroken(const std::function<void(Parts*)>& change, const std::string& fault) {
    Parts parts = Parts::Of(kMiniLm);
    change(&parts);
    ExpectRefused(parts.File(), fault);
  }

  std::string path_;
};

size_t TargetCount() { return static_cast<size_t>(addnorm_supported_targets(nullptr, 0)); }

TEST_F(ReplayTest, GoodCapturesPassOnEveryTarget) {
  const Outcome outcome = RunReplay({"--json", path_, kMiniLm, kSmolLm});
  EXPECT_EQ(outcome.code, kExitGood);
  EXPECT_EQ(outcome.err, "");
  const Json report = Json::parse(ReadFile(path_));
  EXPECT_EQ(report["results"].size(), 2 * 2 * TargetCount());  // files x (fused, unfused) x targets
  EXPECT_TRUE(report["failures"].empty());
  for (const Json& result : report["results"]) {
    EXPECT_TRUE(result["bits_equal"]) << result;
    EXPECT_TRUE(result["within_bound"]) << result;
    EXPECT_GT(result["max_ulp"], 0.4)
        << result;  // an f32 result is hardly ever nearer everywhere: something was measured
    EXPECT_LE(result["max_ulp"], result["bound_ulp"]) << result;
    EXPECT_GT(result["ns_per_step"], 0) << result;
  }
  EXPECT_EQ(report["results"][0]["model"], "all-MiniLM-L6-v2");
  EXPECT_EQ(report["results"][0]["positions"], 13);
  EXPECT_EQ(report["results"][0]["rows"], 30);
  EXPECT_EQ(report["results"][0]["cols"], 384);
}

TEST_F(ReplayTest, TheTableNamesModelTargetAndShape) {
  const Outcome outcome = RunReplay({"--target=scalar", kSmolLm});
  EXPECT_EQ(outcome.code, kExitGood) << outcome.err;
  EXPECT_EQ(outcome.out.rfind("model ", 0), 0u);
  for (const char* text : {"SmolLM2-135M-Instruct", "scalar", " fused", "unfused", " 17 ", " 27 ", " 576 ", " equal "})
    EXPECT_NE(outcome.out.find(text), std::string::npos) << text << "\n" << outcome.out;
}

TEST_F(ReplayTest, RebuiltCaptureIsStillGood) {
  // So that what the tests below report is their change, and not how they write a file.
  Write(Parts::Of(kMiniLm).File());
  const Outcome outcome = RunReplay({"--target", "scalar", path_});
  EXPECT_EQ(outcome.code, kExitGood) << outcome.err;
}

TEST_F(ReplayTest, GoodFileAfterBadOneIsReplayed) {
  Write("bad");
  const Outcome outcome = RunReplay({"--target", "scalar", path_, kMiniLm});
  EXPECT_EQ(outcome.code, kExitFailed);
  EXPECT_NE(outcome.out.find("all-MiniLM-L6-v2"), std::string::npos);
}

TEST_F(ReplayTest, ErrorOfFiveUlpInY) {
  ExpectBroken([](Parts* p) { p->MoveByUlp("layer2.attention.y", 2 * 384 + 17, 5); },
               "position \"layer2.attention\", row 2, column 17: P.y is ");
}

TEST_F(ReplayTest, ErrorOfOneUlpInY) {
  ExpectBroken([](Parts* p) { p->MoveByUlp("layer5.feedforward.y", 29 * 384 + 383, -1); },
               "position \"layer5.feedforward\", row 29, column 383: P.y is ");
}

TEST_F(ReplayTest, ErrorOfOneUlpInSum) {
  ExpectBroken([](Parts* p) { p->MoveByUlp("layer0.attention.sum", 5, 1); },
               "position \"layer0.attention\", row 0, column 5: P.sum is ");
}

TEST_F(ReplayTest, ErrorInTheSumOfAPositionWithoutAdd) {
  Parts parts = Parts::Of(kSmolLm);
  parts.MoveByUlp("layer0.attention.sum", 7, 1 << 10);
  ExpectRefused(parts.File(), "position \"layer0.attention\", row 0, column 7: P.y is ");
}

TEST_F(ReplayTest, WrongEpsilon) {
  ExpectBroken([](Parts* p) { p->metadata("epsilon") = "1e-5"; }, ": P.y is ");
}

TEST_F(ReplayTest, NotANumberInData) {
  ExpectBroken([](Parts* p) { p->Patch<float>("embeddings.x", 3, [](float) { return std::nanf(""); }); },
               "tensor \"embeddings.x\": element 3 is not finite");
}

TEST_F(ReplayTest, OffsetsOfOneTensorSwapped) {
  ExpectBroken([](Parts* p) { p->SetPair("embeddings.gamma", "data_offsets", 3072, 1536); },
               "tensor \"embeddings.gamma\": data_offsets are out of order");
}

TEST_F(ReplayTest, OffsetsOfTwoTensorsSwapped) {
  const auto swap = [](const char* a, const char* b) {
    return [a, b](Parts* p) { std::swap(p->field(a, "data_offsets"), p->field(b, "data_offsets")); };
  };
  // Well-formed files, whose numbers tell.
  ExpectBroken(swap("embeddings.residual", "embeddings.sum"), "position \"embeddings\", row 0, column 0: P.sum is ");
  ExpectBroken(swap("embeddings.gamma", "embeddings.beta"), "position \"embeddings\", row 0, column 0: P.y is ");
}

TEST_F(ReplayTest, OffsetsThatDoNotCoverTheData) {
  const auto offsets = [](uint64_t begin, uint64_t end) {
    return [begin, end](Parts* p) { p->SetPair("embeddings.gamma", "data_offsets", begin, end); };
  };
  ExpectBroken(offsets(1532, 3068), "data_offsets overlap another tensor's");
  ExpectBroken(offsets(1540, 3076), "data_offsets leave a gap before it");
  ExpectBroken(offsets(1536, 3076), "data_offsets span 1540 bytes, but dtype and shape need 1536");
  ExpectBroken(offsets(uint64_t{1} << 62, (uint64_t{1} << 62) + 1536),
               "tensor \"embeddings.gamma\" ends at byte 4611686018427389440");
  ExpectBroken([](Parts* p) { p->SetPair("embeddings.gamma", "data_offsets", -1536, 0); }, "non-negative integers");
  ExpectBroken([](Parts* p) { p->field("embeddings.gamma", "data_offsets") = {1536}; }, "data_offsets is not a pair");
  ExpectBroken([](Parts* p) { p->data += "rest"; }, "4 bytes after the last tensor belong to none");
}

TEST_F(ReplayTest, TruncatedAnywhere) {
  const std::string good = ReadFile(kMiniLm);
  ExpectRefused(good.substr(0, good.size() - 1), "truncated: tensor \"layer5.feedforward.y\" ends at byte 2436096");
  ExpectRefused(good.substr(0, good.size() / 2), "truncated: tensor ");
  ExpectRefused(good.substr(0, 1000), "header length 7328 is larger than the file (1000 bytes)");
  ExpectRefused(good.substr(0, 7), "truncated: 7 bytes");
  ExpectRefused("", "truncated: 0 bytes");
}

TEST_F(ReplayTest, LyingHeaderLength) {
  std::string file = ReadFile(kMiniLm);
  const auto with_length = [&file](uint64_t length) {
    std::memcpy(file.data(), &length, sizeof(length));
    return file;
  };
  ExpectRefused(with_length(~uint64_t{0}), "header length 18446744073709551615 is larger than the file");
  ExpectRefused(with_length(file.size() - 7), "is larger than the file");
  ExpectRefused(with_length(file.size() - 8), "header is not valid JSON");
  ExpectRefused(with_length(7000), "header is not valid JSON");
  ExpectRefused(with_length(0), "header does not begin with '{'");
  ExpectRefused(Parts{}.FileWithHeader("{" + std::string((size_t{1} << 22), ' ') + "}"),
                "is beyond the limit of 4194304");
}

TEST_F(ReplayTest, HeaderThatIsNotOne) {
  const Parts parts;
  ExpectRefused(parts.FileWithHeader("[]"), "header does not begin with '{'");
  ExpectRefused(parts.FileWithHeader("{\"a\": }"), "header is not valid JSON (at byte 7 of it)");
  ExpectRefused(parts.FileWithHeader("{\"a\": \"\xff\"}"), "header is not valid JSON");
  ExpectRefused(parts.FileWithHeader("{\"a\": 1e999}"), "header has a number out of range");
  ExpectRefused(parts.FileWithHeader("{\"a\": 1, \"a\": 2}"), "header has \"a\" twice");
  ExpectRefused(parts.FileWithHeader("{\"a\": 1}"), "tensor \"a\" is not an object");
  ExpectRefused(parts.FileWithHeader("{\"a\": " + std::string(100000, '[')), "header nests too deeply");
  ExpectRefused(parts.FileWithHeader("{\"\x1b[31m\\n\": 1}"), "");  // a control character, raw
  ExpectRefused(parts.FileWithHeader("{\"\\u001b[31m\": 1}"), "tensor \"\\x1b[31m\" is not an object");
  ExpectRefused(parts.FileWithHeader("{\"__metadata__\": {\"a\": 1}}"), "__metadata__ has no text \"a\"");
  ExpectRefused(parts.FileWithHeader("{}"), "metadata \"format\" is missing");
}

TEST_F(ReplayTest, TensorsOfWrongDtypeOrShape) {
  ExpectBroken([](Parts* p) { p->field("embeddings.x", "dtype") = "F8"; }, "has the unknown dtype \"F8\"");
  ExpectBroken([](Parts* p) { p->field("embeddings.x", "dtype") = 4; },
               "tensor \"embeddings.x\" has no text \"dtype\"");
  ExpectBroken([](Parts* p) { p->field("embeddings.x", "dtype") = "F16"; }, "but dtype and shape need 23040");
  ExpectBroken([](Parts* p) { p->field("embeddings.x", "dtype") = "I32"; }, "tensor \"embeddings.x\" is I32, not F32");
  ExpectBroken([](Parts* p) { p->header["embeddings.x"].erase("shape"); }, "tensor \"embeddings.x\" has no shape");
  ExpectBroken([](Parts* p) { p->field("embeddings.x", "stride") = 1; }, "has an unknown field \"stride\"");
  ExpectBroken([](Parts* p) { p->SetPair("embeddings.x", "shape", 384, 30); },
               "tensor \"embeddings.x\" has shape [384, 30], expected [30, 384]");
  ExpectBroken([](Parts* p) { p->field("embeddings.sum", "shape") = {11520}; }, "expected [tokens, features]");
  ExpectBroken([](Parts* p) { p->SetPair("embeddings.x", "shape", uint64_t{1} << 32, uint64_t{1} << 32); },
               "shape overflows");
  ExpectBroken([](Parts* p) { p->SetPair("embeddings.x", "shape", 1.5, 2.5); }, "non-negative integers");
}

TEST_F(ReplayTest, MissingTensors) {
  // Dropping the last tensor's header entry and data keeps the file well-formed.
  Parts parts = Parts::Of(kMiniLm);
  const size_t begin = parts.field("layer5.feedforward.y", "data_offsets")[0];
  parts.header.erase("layer5.feedforward.y");
  parts.data.resize(begin);
  ExpectRefused(parts.File(), "tensor \"layer5.feedforward.y\" is missing");

  for (const char* name : {"residual", "x", "sum", "gamma", "beta", "y"}) {
    ExpectBroken(
        [name](Parts* p) {
          const std::string tensor = std::string("layer3.attention.") + name;
          p->header["other"] = p->header[tensor];
          p->header.erase(tensor);
        },
        std::string("tensor \"layer3.attention.") + name + "\" is missing");
  }
}

TEST_F(ReplayTest, OnlyTheFirstPositionMayGoWithoutAdd) {
  const auto rename = [](const char* position) {
    Parts parts = Parts::Of(kSmolLm);
    for (const char* name : {".residual", ".x"}) {
      parts.header[std::string("other") + name] = parts.header[std::string(position) + name];
      parts.header.erase(std::string(position) + name);
    }
    return parts.File();
  };
  ExpectRefused(rename("layer1.attention"), "tensor \"layer1.attention.residual\" is missing");
}

TEST_F(ReplayTest, TensorOfNoPosition) {
  ExpectBroken([](Parts* p) { p->metadata("positions") = "[\"embeddings\"]"; }, "belongs to no position");
}

TEST_F(ReplayTest, BadMetadata) {
  const auto metadata = [](const char* key, const char* value) {
    return [key, value](Parts* p) { p->metadata(key) = value; };
  };
  for (const char* key : {"format", "model", "norm", "placement", "epsilon", "positions"}) {
    ExpectBroken([key](Parts* p) { p->header["__metadata__"].erase(key); },
                 std::string("metadata \"") + key + "\" is missing");
  }
  ExpectBroken([](Parts* p) { p->header.erase("__metadata__"); }, "metadata \"format\" is missing");
  ExpectBroken(metadata("format", "addnorm-capture-2"), "metadata \"format\" is \"addnorm-capture-2\"");
  ExpectBroken(metadata("norm", "batch"), "metadata \"norm\" is \"batch\", expected \"layer\" or \"rms\"");
  ExpectBroken(metadata("placement", ""), "metadata \"placement\" is \"\"");
  for (const char* epsilon :
       {"nan", "NaN", "inf", "-1e-12", "-0", "1e999", "1e-12x", "", " 1e-12", "0x1p-3", "e", "1e"})
    ExpectBroken(metadata("epsilon", epsilon),
                 std::string("metadata \"epsilon\" is \"") + epsilon + "\", expected a finite");
  for (const char* positions : {"", "[", "{}", "[]", "[1]", "[[\"embeddings\"]]", "[\"a\", \"a\"]", "\"embeddings\""})
    ExpectBroken(metadata("positions", positions), "expected a JSON list of different names");
  ExpectBroken(metadata("positions", "[\"nowhere\"]"), "tensor \"nowhere.sum\" is missing");
}

TEST_F(ReplayTest, WhatIsNoFile) {
  for (const std::string& path : {testing::TempDir(), std::string("/dev/null")}) {
    const Outcome outcome = RunReplay({path});
    EXPECT_EQ(outcome.code, kExitFailed);
    EXPECT_EQ(outcome.err, "addnorm-replay: " + path + ": is not a regular file\n");
  }
  const Outcome outcome = RunReplay({path_});
  EXPECT_EQ(outcome.code, kExitFailed);
  EXPECT_EQ(outcome.err, "addnorm-replay: " + path_ + ": no such file\n");
}

TEST_F(ReplayTest, JsonThatCannotBeWritten) {
  const Outcome outcome =
      RunReplay({"--target", "scalar", "--json", testing::TempDir() + "no/such/folder.json", kMiniLm});
  EXPECT_EQ(outcome.code, kExitFailed);
  EXPECT_NE(outcome.err.find("no/such/folder.json: cannot be written"), std::string::npos) << outcome.err;
}

TEST_F(ReplayTest, CommandLine) {
  const Outcome help = RunReplay({"--help"});
  EXPECT_EQ(help.code, kExitGood);
  EXPECT_EQ(help.out.rfind("Usage: addnorm-replay [--target NAME]... [--json FILE] CAPTURE.safetensors...", 0), 0u);

  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong = {
      {{}, "no capture given"},
      {{"--frob", kMiniLm}, "unknown option \"--frob\""},
      {{"-t", "scalar", kMiniLm}, "unknown option \"-t\""},
      {{"--target", "mmx", kMiniLm}, "unknown target \"mmx\"; it supports"},
      {{"--target=", kMiniLm}, "unknown target \"\""},
      {{kMiniLm, "--target"}, "--target needs a value"},
      {{kMiniLm, "--json"}, "--json needs a value"},
      {{kMiniLm, "--json="}, "--json needs a file name"}};
  for (const auto& [arguments, message] : wrong) {
    const Outcome outcome = RunReplay(arguments);
    EXPECT_EQ(outcome.code, kExitUsage) << message;
    EXPECT_EQ(outcome.out, "");
    EXPECT_NE(outcome.err.find(message), std::string::npos) << outcome.err;
  }
}

}  // namespace
}  // namespace addnorm_test::replay

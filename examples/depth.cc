// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// What Add & Norm is for: how large activations and gradients are at each layer of a deep encoder at initialisation,
// and how its loss falls, without a residual connection, without a norm, and with the norm at each of its places. The
// Add & Norm steps are addnorm's, forward and backward. Everything follows from fixed seeds.
//
// Usage: example_depth [--depths N,N,...] [--seeds N] [--layers N,N,...] [--steps N] [--rate R]
//        [--warmup N] [--output FOLDER]
// It writes FOLDER/initialisation.csv and FOLDER/training.csv, of which ci/depth.sh makes the plots of docs/DEPTH.md.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <mutex>
#include <numeric>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "encoder/model.h"

namespace {

using encoder::LayerScale;
using encoder::ModelConfig;
using encoder::NormKind;
using encoder::Placement;

// Losses are written as means of so many steps.
constexpr int kMeanOf = 10;
constexpr int kThreads = 2, kSequences = 16, kWidth = 32, kHeads = 4, kHidden = 64;

struct Options {
  std::vector<int> depths = {6, 12, 24, 48, 96};
  int seeds = 5;
  std::vector<int> layers = {6, 24};  // of the models that are trained
  int steps = 400;
  double rate = 1e-3;
  int warmup = 0;
  std::string output = ".";
};

struct Variant {
  const char* placement_name;
  const char* norm_name;
  Placement placement;
  NormKind norm;
};

constexpr Variant kVariants[] = {
    {"no residual", "none", Placement::kNoResidual, NormKind::kLayerNorm},
    {"residual without norm", "none", Placement::kNoNorm, NormKind::kLayerNorm},
    {"Post-LN", "LayerNorm", Placement::kPostLn, NormKind::kLayerNorm},
    {"Post-LN", "RMSNorm", Placement::kPostLn, NormKind::kRmsNorm},
    {"Pre-LN", "LayerNorm", Placement::kPreLn, NormKind::kLayerNorm},
    {"Pre-LN", "RMSNorm", Placement::kPreLn, NormKind::kRmsNorm},
    {"post-norm in the residual", "LayerNorm", Placement::kPostNormInResidual, NormKind::kLayerNorm},
    {"post-norm in the residual", "RMSNorm", Placement::kPostNormInResidual, NormKind::kRmsNorm},
};

std::string NameOf(const Variant& variant) { return std::string(variant.placement_name) + "," + variant.norm_name; }

ModelConfig ConfigOf(const Variant& variant, int layers) {
  ModelConfig config;
  config.layer.placement = variant.placement;
  config.layer.norm = variant.norm;
  config.layer.width = kWidth;
  config.layer.heads = kHeads;
  config.layer.hidden = kHidden;
  config.layers = layers;
  return config;
}

void Progress(const std::string& text) {
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  std::fprintf(stderr, "%s\n", text.c_str());
}

// Runs the jobs on kThreads threads, and joins their texts in the jobs' order.
std::string RunAll(const std::vector<std::function<std::string()>>& jobs) {
  std::vector<std::string> texts(jobs.size());
  std::atomic<size_t> next{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (size_t job = next++; job < jobs.size(); job = next++) texts[job] = jobs[job]();
    });
  }
  for (std::thread& thread : threads) thread.join();
  return std::accumulate(texts.begin(), texts.end(), std::string());
}

std::string Number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.5g", value);
  return std::isnan(value) ? "nan" : text;  // never -nan
}

// Geometric means over the seeds, as scales differ by orders of magnitude.
std::string Initialisation(const Variant& variant, int layers, int seeds) {
  std::vector<LayerScale> logs(static_cast<size_t>(layers) + 1);
  const ModelConfig config = ConfigOf(variant, layers);
  for (int seed = 1; seed <= seeds; ++seed) {
    encoder::Model model(config, static_cast<uint64_t>(seed));
    encoder::Random random(static_cast<uint64_t>(1000 + seed));
    model.Forward(encoder::CopyTask(config, kSequences, &random));
    model.Backward();
    for (size_t i = 0; i < logs.size(); ++i) {
      logs[i].activation += std::log(model.scales()[i].activation) / seeds;
      logs[i].stream_gradient += std::log(model.scales()[i].stream_gradient) / seeds;
      logs[i].parameter_gradient += std::log(model.scales()[i].parameter_gradient) / seeds;
    }
  }
  std::string lines;
  for (size_t i = 0; i < logs.size(); ++i) {
    lines += NameOf(variant) + "," + std::to_string(layers) + "," + std::to_string(i) + "," +
             Number(std::exp(logs[i].activation)) + "," + Number(std::exp(logs[i].stream_gradient)) + "," +
             (i == 0 ? "" : Number(std::exp(logs[i].parameter_gradient))) + "\n";
  }
  Progress("initialisation: " + NameOf(variant) + ", " + std::to_string(layers) + " layers");
  return lines;
}

std::string Training(const Variant& variant, int layers, const Options& options) {
  const ModelConfig config = ConfigOf(variant, layers);
  encoder::Model model(config, 1);
  encoder::Adam adam(model.parameters(), options.rate, options.warmup);
  encoder::Random random(2);
  std::string lines;
  double loss = 0, accuracy = 0;
  for (int step = 1; step <= options.steps; ++step) {
    loss += model.Forward(encoder::CopyTask(config, kSequences, &random)) / kMeanOf;
    accuracy += model.accuracy() / kMeanOf;
    model.Backward();
    adam.Step();
    if (step % kMeanOf != 0) continue;
    lines += NameOf(variant) + "," + std::to_string(layers) + "," + std::to_string(step) + "," + Number(loss) + "," +
             Number(accuracy) + "\n";
    if (step % (5 * kMeanOf) == 0 || !std::isfinite(loss)) {
      Progress("training: " + NameOf(variant) + ", " + std::to_string(layers) + " layers: step " +
               std::to_string(step) + " of " + std::to_string(options.steps) + ", loss " + Number(loss));
    }
    if (!std::isfinite(loss)) break;  // and stays so
    loss = accuracy = 0;
  }
  return lines;
}

bool Write(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) std::fprintf(stderr, "%s: cannot be written\n", path.c_str());
  return static_cast<bool>(file);
}

bool ParseList(const char* text, std::vector<int>* numbers) {
  numbers->clear();
  std::istringstream list(text);
  for (std::string number; std::getline(list, number, ',');) numbers->push_back(std::atoi(number.c_str()));
  return std::all_of(numbers->begin(), numbers->end(), [](int number) { return number > 0; });
}

bool Parse(int argc, char** argv, Options* options) {
  if (argc % 2 == 0) return false;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    const char* value = argv[i + 1];
    if (name == "--depths") {
      if (!ParseList(value, &options->depths)) return false;
    } else if (name == "--seeds") {
      options->seeds = std::atoi(value);
    } else if (name == "--layers") {
      if (!ParseList(value, &options->layers)) return false;
    } else if (name == "--steps") {
      options->steps = std::atoi(value);
    } else if (name == "--rate") {
      options->rate = std::atof(value);
    } else if (name == "--warmup") {
      options->warmup = std::atoi(value);
    } else if (name == "--output") {
      options->output = value;
    } else {
      return false;
    }
  }
  return options->seeds > 0 && options->steps >= 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!Parse(argc, argv, &options)) {
    std::fprintf(stderr,
                 "usage: example_depth [--depths N,N,...] [--seeds N] [--layers N,N,...] [--steps N] [--rate R] "
                 "[--warmup N] [--output FOLDER]\n");
    return 2;
  }
  std::vector<std::function<std::string()>> initialisation, training;
  for (const Variant& variant : kVariants) {
    for (const int depth : options.depths) {
      initialisation.push_back([&variant, depth, &options] { return Initialisation(variant, depth, options.seeds); });
    }
    for (const int layers : options.layers) {
      training.push_back([&variant, layers, &options] { return Training(variant, layers, options); });
    }
  }
  const bool written =
      Write(options.output + "/initialisation.csv",
            "placement,norm,layers,layer,activation_rms,stream_gradient_norm,parameter_gradient_norm\n" +
                RunAll(initialisation)) &&
      Write(options.output + "/training.csv", "placement,norm,layers,step,loss,accuracy\n" + RunAll(training));
  return written ? 0 : 1;
}

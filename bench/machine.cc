// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "machine.h"

#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <ctime>
#include <fstream>
#include <map>
#include <thread>

namespace addnorm_bench {
namespace {

constexpr size_t kGuessedLastCache = size_t{64} << 20;

// The first of each key in /proc/cpuinfo; empty elsewhere.
std::map<std::string, std::string> CpuInfo() {
  std::map<std::string, std::string> info;
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const size_t end = line.find_last_not_of(" \t", colon - 1) + 1;
    const size_t value = line.find_first_not_of(' ', colon + 1);
    info.emplace(line.substr(0, end), value == std::string::npos ? "" : line.substr(value));
  }
  return info;
}

// Of a data or unified cache of the first core, from "512K" in sysfs; 0 where unknown.
size_t CacheBytes(const std::string& level) {
  for (int index = 0; index < 8; ++index) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    std::string found_level, type;
    size_t size = 0;
    char unit = '\0';
    std::ifstream(folder + "level") >> found_level;
    std::ifstream(folder + "type") >> type;
    std::ifstream(folder + "size") >> size >> unit;
    if (found_level != level || type == "Instruction") continue;
    return size << (unit == 'K' ? 10 : unit == 'M' ? 20 : 0);
  }
  return 0;
}

std::string Compiler() {
#if defined(__clang__)
  return "Clang " + std::to_string(__clang_major__) + "." + std::to_string(__clang_minor__) + "." +
         std::to_string(__clang_patchlevel__);
#elif defined(__GNUC__)
  return "GCC " + std::to_string(__GNUC__) + "." + std::to_string(__GNUC_MINOR__) + "." +
         std::to_string(__GNUC_PATCHLEVEL__);
#else
  return "unknown";
#endif
}

}  // namespace

Machine ThisMachine() {
  std::map<std::string, std::string> info = CpuInfo();
  Machine machine;
  if (info.count("model name") != 0) {
    machine.cpu = info["model name"] + " (family " + info["cpu family"] + ", model " + info["model"] + ", stepping " +
                  info["stepping"] + ")";
  } else {
    machine.cpu = "implementer " + info["CPU implementer"] + ", part " + info["CPU part"];
  }
  machine.is_virtual = info["flags"].find(" hypervisor") != std::string::npos;
  machine.cores = static_cast<int>(std::thread::hardware_concurrency());
  machine.l1d_bytes = CacheBytes("1");
  machine.l2_bytes = CacheBytes("2");
  machine.l3_bytes = CacheBytes("3");
  utsname system = {};
  if (uname(&system) == 0) {
    machine.system = std::string(system.sysname) + " " + system.release + " " + system.machine;
  }
  machine.compiler = Compiler();
  return machine;
}

size_t LastCacheBytes() {
  const Machine machine = ThisMachine();
  if (machine.l3_bytes != 0) return machine.l3_bytes;
  return machine.l2_bytes != 0 ? machine.l2_bytes : kGuessedLastCache;
}

double LoadAverage() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? load : -1;
}

std::string Now() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return text;
}

}  // namespace addnorm_bench

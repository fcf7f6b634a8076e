#include "distlab/train/run_log.h"

#include <cmath>
#include <string>

#include <fmt/format.h>
#include <sys/resource.h>

#include "dist/core/fail.h"

#include "distlab/file_text.h"

namespace distlab {

double peak_mib() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_maxrss) / 1024;
}

RunLog::RunLog(const std::filesystem::path& file, bool appends) : path_(file) {
  if (file.empty()) return;
  check_output("--log", file);
  out_.open(file, appends ? std::ios::app : std::ios::trunc);
}

void RunLog::write(std::initializer_list<Value> values) {
  if (path_.empty()) return;
  std::string line;
  const auto add = [&](std::string_view name, double value) {
    line += fmt::format("{}\"{}\": {}", line.empty() ? "{" : ", ", name,
                        std::isfinite(value) ? fmt::format("{:.9g}", value) : "null");
  };
  for (const auto& [name, value] : values) add(name, value);
  add("seconds", std::chrono::duration<double>(Clock::now() - began_).count());
  add("memory_mib", peak_mib());
  out_ << line << "}\n" << std::flush;
  if (!out_)
    dist::fail(dist::Errc::resource, "--log {} cannot be written; is the disk full?", path_.string());
}

}  // namespace distlab

#include "distlab/result_files.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

#include "distlab/json.h"
#include "distlab/results/results.h"

namespace distlab {
namespace fs = std::filesystem;
namespace {

bool write_text(const fs::path& path, const std::string& text) {
  std::fflush(stdout);  // it may be the same file
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (file.flush()) return true;
  fmt::print(stderr, "cannot write {}: {}\n", path.string(), std::strerror(errno));
  return false;
}

}  // namespace

bool replace_file(const fs::path& path, const std::string& text) {
  std::error_code error;
  const auto there = fs::symlink_status(path, error);
  if (fs::exists(there) && !fs::is_regular_file(there)) return write_text(path, text);
  const fs::path beside = path.string() + ".tmp";
  if (!write_text(beside, text)) return false;
  fs::rename(beside, path, error);
  if (!error) return true;
  fmt::print(stderr, "cannot write {}: {}\n", path.string(), error.message());
  return false;
}

namespace {

bool write_tables(const ResultFiles& files, const std::vector<GradeRecord>& records) {
  constexpr struct {
    fs::path ResultFiles::*path;
    std::string (*text)(const std::vector<GradeRecord>&);
  } formats[] = {
      {&ResultFiles::junit, as_junit}, {&ResultFiles::markdown, as_markdown}, {&ResultFiles::csv, as_csv}};
  bool all = true;
  for (const auto& format : formats) {
    const auto& path = files.*format.path;
    if (!path.empty()) all = replace_file(path, format.text(records)) && all;
  }
  return all;
}

}  // namespace

bool write_results(const ResultFiles& files, const GradeRecord& record) {
  const bool json = files.json.empty() || replace_file(files.json, as_json(record) + "\n");
  const bool gradescope = files.gradescope.empty() || replace_file(files.gradescope, as_gradescope(record));
  return write_tables(files, {record}) && json && gradescope;
}

bool write_results(const ResultFiles& files, const std::vector<GradeRecord>& records) {
  const bool json = files.json.empty() || replace_file(files.json, as_json(records) + "\n");
  return write_tables(files, records) && json;
}

bool write_unfinished(const ResultFiles& files, const GradeRecord& record) {
  return files.gradescope.empty() || replace_file(files.gradescope, as_gradescope(record));
}

}  // namespace distlab

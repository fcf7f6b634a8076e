#include "distlab/result_files.h"

#include <cstdio>

#include <fmt/format.h>

#include "dist/core/error.h"
#include "dist/core/whole_file.h"

#include "distlab/file_text.h"
#include "distlab/json.h"
#include "distlab/results/results.h"

namespace distlab {
namespace fs = std::filesystem;

bool replace_file(const fs::path& path, const std::string& text) {
  try {
    dist::write_whole_file(path, text);
    return true;
  } catch (const dist::Error& error) {
    fmt::print(stderr, "distlab: {}\n", error.what());
    return false;
  }
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

bool check_results(const ResultFiles& files) try {
  check_output("--json", files.json);
  check_output("--junit", files.junit);
  check_output("--gradescope", files.gradescope);
  check_output("--markdown", files.markdown);
  check_output("--csv", files.csv);
  return true;
} catch (const dist::Error& error) {
  fmt::print(stderr, "distlab: {}\n", error.what());
  return false;
}

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

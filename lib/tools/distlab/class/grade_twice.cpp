// distlab class-one: grades one submission of a class, in a process of its own that can be stopped at any
// time. crew.h starts it; users do not.
#include <chrono>
#include <cstdlib>

#include <fmt/format.h>

#include "dist/core/error.h"

#include "distlab/class/class_result.h"
#include "distlab/commands.h"
#include "distlab/labs.h"
#include "distlab/result_files.h"
#include "distlab/submission.h"
#include "distlab/temporary_folder.h"

namespace distlab {
namespace {

ClassResult grade_twice(const ClassOneOptions& options) {
  const auto lab = find_lab(options.lab);
  const TemporaryFolder folder("submission");
  const auto built = build_submission(lab, options.submission, folder.path());
  ClassResult result;
  result.reason = built.refused;
  if (!built.refused.empty()) {
    result.status = ClassResult::Status::refused;
    return result;
  }
  result.status = ClassResult::Status::graded;
  result.reason = built.note;
  for (const auto seed : {options.seed, options.seed + 1})
    result.gradings.push_back(grade_built(lab, built, {.seed = seed}));
  return result;
}

}  // namespace

int grade_one_of_class(const ClassOneOptions& options) {
  const auto begun = std::chrono::steady_clock::now();
  ::setenv("TMPDIR", options.folder.c_str(), 1);  // if this process is stopped, crew.h removes the folder
  try {
    auto result = grade_twice(options);
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    return replace_file(options.folder / "result.json", as_json(result)) ? exit_ok : exit_missing;
  } catch (const std::exception& error) {  // any exception here is an error of the grader
    fmt::print("{}\n", error.what());
    return exit_missing;
  }
}

}  // namespace distlab

#include "distlab/submission.h"

#include <sstream>

#include <fmt/ranges.h>

#include "dist/core/fail.h"
#include "dist/core/json.h"
#include "dist/core/whole_file.h"

#include "distlab/file_text.h"
#include "distlab/loop/build_errors.h"
#include "distlab/process.h"
#include "distlab/temporary_folder.h"
#include "distlab/workspace.h"

namespace distlab {
namespace fs = std::filesystem;

namespace {

// Returns the first errors of compiler and linker, or the beginning of the log if we cannot read any error in
// it.
std::string first_errors(const std::string& log) {
  constexpr std::size_t enough = 2000;
  auto sources = loop::checkout_sources();
  sources.text_of = [text_of = sources.text_of](const std::string& file) {
    return file.ends_with(".h") ? text_of(file) : "";  // the submission is not the file of this checkout
  };
  const auto told = loop::explain_errors(log, sources);
  if (told.lines.empty()) {
    const auto error = log.find("error");
    const auto line_end = error == log.npos ? log.npos : log.rfind('\n', error);
    return log.substr(line_end == log.npos ? 0 : line_end + 1, enough);
  }
  return fmt::format("{}{}", fmt::join(told.lines, "\n"),
                     told.more > 0 ? fmt::format("\n{} more errors", told.more) : "");
}

// Which other lab's file was handed in, if the compiler did not find that lab's header; "" if none was.
std::string other_lab(const Lab& lab, const std::string& log) {
  for (const Lab& other : find_labs()) {
    const auto header = edited_file(other).replace_extension(".h").filename().string();
    if (other.folder != lab.folder && log.find(fmt::format(" {}: No such file", header)) != log.npos)
      return fmt::format(": it includes {}, so it is the file of lab {}", header, other.number);
  }
  return "";
}

// Lectures grade wrong answers of this checkout, which are parts of a file: returns a complete file for
// "tests/grading/NN_name/wrong_answers.cpp:NAME".
fs::path as_handed_in(const Lab& lab, const fs::path& path, const fs::path& scratch) {
  const std::string text = path.string();
  const auto colon = text.rfind(':');
  const fs::path all = text.substr(0, colon);
  const auto reader = workspace().root / "tests/grading/wrong_answers.sh";
  if (colon == text.npos || all.filename() != "wrong_answers.cpp" || fs::exists(path)) return path;
  const auto run = run_captured({reader, "whole", all, text.substr(colon + 1)});
  if (run.exit_code != 0)
    dist::fail(dist::Errc::unsupported, "{}", run.output.substr(0, run.output.find_last_not_of('\n') + 1));
  const auto whole = scratch / edited_file(lab).filename();
  dist::write_whole_file(whole, run.output);
  return whole;
}

}  // namespace

BuiltSubmission build_submission(const Lab& lab, const fs::path& handed_in, const fs::path& into) {
  constexpr int built = 0, refused = 1;
  const auto& [root, build] = workspace();
  // The sandbox may run the program as another user, who must be able to enter the folder.
  fs::permissions(into, fs::perms::group_exec | fs::perms::others_exec, fs::perm_options::add);
  const auto run = run_captured({build / "bin/judge_build", fs::canonical(root), fs::canonical(build),
                                 fs::relative(edited_file(lab), root), fs::absolute(handed_in), into});
  const auto said = dist::try_parse_json(run.output);
  if ((run.exit_code != built && run.exit_code != refused) || !said.is_object())
    dist::fail(dist::Errc::internal, "the submission could not be built (status {}): {}", run.exit_code,
               run.output.substr(0, run.output.find_last_not_of('\n') + 1));
  std::string why = said.value("refused", "");
  const std::string log = said.value("log", "");
  if (!log.empty()) why += other_lab(lab, log) + ":\n" + first_errors(log);
  return {.runner = into / "runner",
          .isolation = said.value("isolation", ""),
          .work_ms = said.value("work_ms", std::int64_t{0}),
          .note = said.value("note", ""),
          .refused = why};
}

Grade grade_built(const Lab& lab, const BuiltSubmission& built, GradeRequest request) {
  request.program = lab_program(lab, "grade");
  request.runner = built.runner;
  request.build_work_ms = built.work_ms;
  Grade grade = run_grading(request);
  grade.is_trusted = built.isolation != "limits" && grade.isolation != "limits";
  return grade;
}

void grade_submission(const Lab& lab, const fs::path& path, GradeRequest request, GradeRecord& record) {
  const TemporaryFolder scratch("submission"), folder("submission");
  const auto handed_in = as_handed_in(lab, path, scratch.path());
  std::error_code why;
  const auto status = fs::status(handed_in, why);
  if (status.type() == fs::file_type::none)
    dist::fail(dist::Errc::unsupported, "{} cannot be read: {}; check the permissions of its folder",
               handed_in.string(), why.message());
  if (!fs::exists(status))
    dist::fail(dist::Errc::unsupported, "there is no file or folder {}; check the path", handed_in.string());
  if (!fs::is_regular_file(status) && !fs::is_directory(status))
    dist::fail(dist::Errc::unsupported, "{} is a device or a pipe; hand in a file, a folder or a zip file",
               handed_in.string());
  const auto built = build_submission(lab, handed_in, folder.path());
  if (!built.refused.empty()) {
    auto& grade = record.grade.emplace();
    grade.max_score = full_score;
    grade.isolation = built.isolation;
    grade.is_trusted = built.isolation != "limits";
    record.reason = built.refused;
    return;
  }
  record.note = built.note;
  record.grade = grade_built(lab, built, std::move(request));
}

}  // namespace distlab

#include "distlab/submission.h"

#include <nlohmann/json.hpp>

#include "dist/core/fail.h"

#include "distlab/process.h"
#include "distlab/temporary_folder.h"
#include "distlab/workspace.h"

namespace distlab {
namespace fs = std::filesystem;

BuiltSubmission build_submission(const Lab& lab, const fs::path& handed_in, const fs::path& into) {
  constexpr int built = 0, refused = 1;
  const auto& [root, build] = workspace();
  const auto run = run_captured({build / "bin/judge_build", fs::canonical(root), fs::canonical(build),
                                 fs::relative(edited_file(lab), root), fs::absolute(handed_in), into});
  const auto said = nlohmann::json::parse(run.output, nullptr, false);
  if ((run.exit_code != built && run.exit_code != refused) || !said.is_object())
    dist::fail(dist::Errc::internal, "the submission could not be built (status {}): {}", run.exit_code,
               run.output);
  // Where there is no bubblewrap the runner runs as another user, who has to get there.
  fs::permissions(into, fs::perms::group_exec | fs::perms::others_exec, fs::perm_options::add);
  return {into / "runner", said.value("isolation", ""), said.value("refused", "")};
}

Grade grade_built(const Lab& lab, const BuiltSubmission& built, GradeRequest request) {
  request.program = lab_program(lab, "grade");
  request.runner = built.runner;
  Grade grade = run_grading(request);
  grade.is_trusted = built.isolation != "limits" && grade.isolation != "limits";
  return grade;
}

void grade_submission(const Lab& lab, const fs::path& handed_in, GradeRequest request, GradeRecord& record) {
  const TemporaryFolder folder("submission");
  const auto built = build_submission(lab, handed_in, folder.path());
  if (!built.refused.empty()) {
    record.grade.emplace().max_score = full_score;
    record.reason = built.refused;
    return;
  }
  record.grade = grade_built(lab, built, std::move(request));
}

}  // namespace distlab

// distlab class handout.
#include <fmt/format.h>

#include "dist/core/fail.h"
#include "dist/core/whole_file.h"

#include "distlab/checkout_files.h"
#include "distlab/class/handout_files.h"
#include "distlab/class/leaks.h"
#include "distlab/commands.h"
#include "distlab/file_text.h"
#include "distlab/labs.h"
#include "distlab/process.h"
#include "distlab/starter.h"
#include "distlab/temporary_folder.h"
#include "distlab/waiting.h"
#include "distlab/workspace.h"

namespace distlab {
namespace fs = std::filesystem;
namespace {

using dist::Errc, dist::fail;

void write_new(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  fs::remove(path);  // because it may be a link
  dist::write_whole_file(path, text);
}

void copy_for_students(const fs::path& tree) {
  for (const auto& file : checkout_files()) {
    if (is_for_students(file)) copy_checkout_file(file, tree);
  }
  write_new(tree / "README.md", handout_readme());
  const auto& root = workspace().root;
  for (const auto& lab : find_labs()) {
    const auto starter = starter_of(lab);
    write_new(tree / fs::relative(edited_file(lab), root), starter);
    write_new(tree / fs::relative(kept_starter(lab), root), starter);
  }
}

std::vector<fs::path> secrets() {
  std::vector<fs::path> found;
  for (const auto& file : checkout_files())
    if (is_secret(file)) found.push_back(workspace().root / file);
  return found;
}

void check_files(const fs::path& tree) {
  const auto& root = workspace().root;
  const auto names = secret_names();
  for (const auto& entry : fs::recursive_directory_iterator(tree)) {
    const auto file = fs::relative(entry.path(), tree);
    if (file.extension() == ".zip")
      fail(Errc::internal, "it contains {}, and packed files cannot be searched; remove it from git",
           file.string());
    if (!entry.is_regular_file() || entry.is_symlink()) continue;
    if (const auto name = named_in(tree, file, names); !name.empty())
      fail(Errc::internal, "{} names {}, a wrong answer or a cheat", file.string(), name);
  }
  std::vector<fs::path> known;  // starters and specifications
  for (const auto& lab : find_labs()) {
    const auto starter = tree / fs::relative(edited_file(lab), root);
    for (const auto& file : {starter, fs::path(starter).replace_extension(".h")}) known.push_back(file);
  }
  const auto leaks = find_leaks(tree, secrets(), known);
  if (leaks.empty()) return;
  const auto& leak = leaks.front();
  fail(Errc::internal, "{} contains lines of {} ({} such files):\n{}", leak.file.string(),
       fs::relative(leak.secret, root).string(), leaks.size(), leak.lines);
}

void check_that_it_configures(const fs::path& tree) {
  const Waiting waiting("configuring a build of the tree");
  const TemporaryFolder build("handout");
  const auto run =
      run_captured({"cmake", "-E", "chdir", tree, "cmake", "--preset", "dev", "-B", build.path() / "build"});
  if (run.exit_code != 0) fail(Errc::internal, "CMake cannot configure it:\n{}", run.output);
}

// Grades its first lab there, as a student would do first.
void check_first_lab(const fs::path& tree) {
  constexpr int graded = 1;  // the exit code of a grade below 100 points
  const Waiting waiting("building the tree and grading its first lab, many minutes");
  const TemporaryFolder folder("handout");
  const auto csv = folder.path() / "grade.csv";
  const auto run = run_captured({tree / "distlab", "grade", find_labs().front().folder, "--csv", csv});
  const bool has_no_points = text_of_file(csv).find(",graded,0,100,") != std::string::npos;
  for (const auto* made : {"build", ".distlab"}) fs::remove_all(tree / made);
  if (run.exit_code != graded || !has_no_points)
    fail(Errc::internal, "the starter of its first lab should get 0 of {} points:\n{}", full_score,
         run.output);
}

// The tree is made beside its final place, and removed unless all checks succeed.
fs::path draft_of(const fs::path& tree) { return tree.string() + ".unfinished"; }

class Draft {
 public:
  explicit Draft(const fs::path& tree) : tree_(draft_of(tree)) {}
  ~Draft() {
    std::error_code ignored;
    fs::remove_all(tree_, ignored);
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  const fs::path& tree() const { return tree_; }

 private:
  fs::path tree_;
};

}  // namespace

int make_handout(const HandoutOptions& options) {
  workspace();  // throws if there is no checkout
  auto tree = fs::absolute(options.output.empty() ? "distlab_handout" : options.output).lexically_normal();
  if (!tree.has_filename()) tree = tree.parent_path();  // "handout/"
  for (const auto& path : {tree, draft_of(tree)}) {
    if (!fs::exists(fs::symlink_status(path))) continue;
    fmt::print(stderr, "{} already exists; choose another -o, or remove it\n", path.string());
    return exit_usage;
  }
  const Draft draft(tree);
  try {
    copy_for_students(draft.tree());
    check_files(draft.tree());
    check_that_it_configures(draft.tree());
    if (options.check) check_first_lab(draft.tree());
  } catch (const dist::Error& error) {
    fmt::print(stderr, "this tree is not fit for students: {}\n", error.what());
    return exit_failed;
  }
  fs::rename(draft.tree(), tree);
  fmt::print("{} is ready for students: it has no solutions, wrong answers and history{}\n", tree.string(),
             options.check ? "; its first lab builds, and the starter gets 0 points" : "");
  return exit_ok;
}

}  // namespace distlab

// distlab list, run, grade, hint.
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "dist/core/fail.h"

#include "distlab/commands.h"
#include "distlab/grading.h"
#include "distlab/labs.h"
#include "distlab/process.h"
#include "distlab/terminal.h"
#include "distlab/workspace.h"

namespace distlab {
namespace fs = std::filesystem;
namespace {

// What the options of one command line say; each command reads the ones it has.
struct Options {
  std::string lab;
  bool solution = false;
  bool chinese = false;
  int level = 1;
  fs::path json;
  fs::path runner;
  std::optional<std::uint64_t> seed;
  std::vector<std::string> arguments;
};

Lab asked_lab(const Options& options) {
  try {
    return find_lab(options.lab);
  } catch (const dist::Error& error) {
    if (error.code() != dist::Errc::invalid_argument) throw;
    fmt::print(stderr, "{}\n", error.what());
    throw CLI::RuntimeError(exit_usage);
  }
}

fs::path asked_program(const Lab& lab, const Options& options, const std::string& what) {
  try {
    return lab_program(lab, options.solution ? "solution_" + what : what);
  } catch (const dist::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    throw CLI::RuntimeError(exit_missing);
  }
}

void list() {
  for (const auto& lab : find_labs()) {
    fmt::print("{}\n    {}\n", styled(Style::bold, lab.title),
               fs::relative(handout(lab), workspace().root).string());
  }
  fmt::print(
      "\n./distlab run 1     see what your code does\n./distlab grade 1   is it right, and if not, why?\n"
      "./distlab hint 1    a nudge\n");
}

void run(const Options& options) {
  const auto lab = asked_lab(options);
  std::vector<std::string> argv{asked_program(lab, options, "demo")};
  argv.insert(argv.end(), options.arguments.begin(), options.arguments.end());
  const auto result = run_streamed(argv, [](std::string_view line) {
    fmt::print("{}\n", line);
    std::fflush(stdout);
  });
  if (result.exit_code != 0) throw CLI::RuntimeError(exit_failed);
}

void hint(const Options& options) {
  const auto lab = asked_lab(options);
  std::ifstream page(hint_page(lab, options.level, options.chinese));
  fmt::print("{}", std::string(std::istreambuf_iterator<char>(page), {}));
  if (options.level < 3)
    fmt::print("\nStill stuck? ./distlab hint {} --level {}\n", lab.number, options.level + 1);
}

// Indented, every line of it.
void print_note(std::string_view text, Style style) {
  constexpr int indent = 10;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    const auto line = wrapped(text.substr(begin, end - begin), terminal_width() - indent, indent);
    fmt::print("{:{}}{}\n", "", indent, styled(style, line));
    begin = end + 1;
  }
}

// `said` is the message above: what is not written yet fails several tests with one.
void print_test(const GradedTest& test, std::string& said) {
  const bool passed = test.result == GradedTest::Result::passed;
  auto title = test.name.substr(test.name.find('.') + 1);
  std::ranges::replace(title, '_', ' ');
  fmt::print("  {} {:>2}/{:<2}  {}\n", styled(passed ? Style::good : Style::bad, passed ? "✓" : "✗"),
             test.points, test.max_points, title);
  const auto message = test.messages.empty() ? "" : test.messages.front();
  if (!message.empty() && message != said) print_note(message, Style::dim);
  said = message;
  if (!test.explanation.empty()) print_note("Perhaps: " + test.explanation, Style::warn);
}

// The first step that is not complete, and where to read on about it.
void print_next(const Lab& lab, const Grade& grade) {
  for (const auto& test : grade.tests) {
    if (test.result == GradedTest::Result::passed) continue;
    fmt::print("Next: step {} in {}\n", test.step, fs::relative(edited_file(lab), workspace().root).string());
    fmt::print(
        "      a nudge for it: ./distlab hint {}; the same questions again: ./distlab grade {} --seed {}\n",
        lab.number, lab.number, grade.seed);
    return;
  }
}

void print_grade(const Lab& lab, const Grade& grade) {
  fmt::print("{}\n", styled(Style::bold, lab.title));
  int step = 0;
  std::string said;
  for (const auto& test : grade.tests) {
    if (test.step != step) fmt::print("step {}\n", test.step);
    step = test.step;
    print_test(test, said);
  }
  fmt::print("\n{}\n", styled(grade.is_full() ? Style::good : Style::bold,
                              fmt::format("Score {} of {}", grade.score, grade.max_score)));
  print_next(lab, grade);
}

void write_json(const Options& options, const Lab& lab, nlohmann::json result) {
  if (options.json.empty()) return;
  result["lab"] = lab.folder;
  result["graded_file"] = options.solution ? "solution" : "lab";
  result["mode"] = "practice";  // a trusted grade needs a sandbox around the graded program
  std::ofstream file(options.json);
  file << result.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
  if (!file.flush()) {
    fmt::print(stderr, "cannot write {}\n", options.json.string());
    throw CLI::RuntimeError(exit_missing);
  }
}

void grade(const Options& options) {
  const auto lab = asked_lab(options);
  Options judge_only;  // one judge for the lab's file and for the solution
  const GradeRequest request{
      .program = asked_program(lab, judge_only, "grade"),
      .runner = options.runner.empty() ? asked_program(lab, options, "runner") : fs::absolute(options.runner),
      .seed = options.seed};
  Grade result;
  try {
    result = run_grading(request);
  } catch (const dist::Error& error) {
    fmt::print(stderr, "ungraded: {}\nThis is distlab's fault, not that of your code.\n", error.what());
    write_json(options, lab, {{"status", "ungraded"}, {"reason", error.what()}});
    throw CLI::RuntimeError(exit_missing);
  }
  print_grade(lab, result);
  auto json = to_json(result);
  json["status"] = "graded";
  write_json(options, lab, json);
  if (!result.is_full()) throw CLI::RuntimeError(exit_failed);
}

CLI::App* lab_command(CLI::App& app, const std::shared_ptr<Options>& options, const std::string& name,
                      const std::string& help) {
  auto* command = app.add_subcommand(name, help);
  command->add_option("lab", options->lab, "its number (1) or the beginning of its name")->required();
  return command;
}

}  // namespace

void add_lab_commands(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_subcommand("list", "The labs and where their handouts are")->callback(list);

  auto* run_command = lab_command(app, options, "run", "Run a lab's demo with your code");
  run_command->add_flag("--solution", options->solution, "with the solution instead");
  run_command->add_option("arguments", options->arguments, "for the demo, after --");
  run_command->callback([options] { run(*options); });

  auto* grade_command = lab_command(app, options, "grade", "Grade your code: is it right, and if not, why?");
  grade_command->add_flag("--solution", options->solution, "grade the solution instead");
  grade_command->add_option("--json", options->json, "write the result to this file as well");
  grade_command->add_option("--seed", options->seed,
                            "ask the same questions again (a grade prints its seed)");
  grade_command->add_option("--runner", options->runner, "another program to grade")->group("");
  grade_command->callback([options] { grade(*options); });

  auto* hint_command = lab_command(app, options, "hint", "A hint: level 1 nudges, level 3 is nearly code");
  hint_command->add_option("--level", options->level, "1, 2 or 3")->check(CLI::Range(1, 3));
  hint_command->add_flag("--zh", options->chinese, "in Chinese");
  hint_command->callback([options] { hint(*options); });
}

}  // namespace distlab

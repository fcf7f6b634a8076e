#include "judge/build_submission.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>

#include <fmt/format.h>

#include "judge/confined_run.h"
#include "judge/libraries.h"
#include "judge/object_check.h"
#include "judge/submission.h"
#include "judge/trouble.h"

namespace judge {
namespace fs = std::filesystem;
namespace {

using Words = std::vector<std::string>;

// The compiler, the linker and nm share these.
const Limits limits{.work = Milliseconds(30'000),
                    .in_all = Milliseconds(30'000),
                    .output_bytes = 32 << 10,
                    .processes = 32,
                    .memory_bytes = std::size_t{3} << 30,
                    .file_bytes = 64 << 20};

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string replaced(const std::string& part, const std::string& by, std::string text) {
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + by.size()))
    text.replace(at, part.size(), by);
  return text;
}

// One submission on its way, in a folder of its own.
class Build {
 public:
  Build(const Lab& lab, const std::string& text) : lab_(lab), kit_(kit_of(lab)) {
    std::ofstream(source_) << text;
    look_for_solutions();
    fs::permissions(source_, fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read);
  }

  Ran compile(const fs::path& source, const fs::path& object, Errand& errand) {
    Command command{.argv = filled(kit_.compile, {{Kit::source, source},
                                                  {Kit::object, object},
                                                  {Kit::dependencies, object.string() + ".d"}}),
                    .readable = kit_.compile_reads};
    // Messages and findings name the file, not where it happened to be.
    command.argv.push_back(fmt::format("-ffile-prefix-map={}/=", scratch_.path()));
    command.argv.emplace_back("-fdiagnostics-color=never");
    return run(command, errand);
  }
  Ran link(const fs::path& object, const fs::path& program, Errand& errand) {
    return run({.argv = filled(kit_.link, {{Kit::object, object}, {Kit::program, program}}),
                .readable = kit_.link_reads},
               errand);
  }
  std::string symbols_of(const fs::path& file, const Words& options, Errand& errand) {
    Command command{.argv = {"/usr/bin/nm", "-C"}, .readable = {file}};
    command.argv.insert(command.argv.end(), options.begin(), options.end());
    command.argv.push_back(file);
    constexpr std::size_t most = 16 << 20;
    const Ran ran = run(command, errand, most);
    if (!ran.is_well()) refuse("compiles to what cannot be read", ran.output.substr(0, limits.output_bytes));
    if (ran.output.size() >= most)
      refuse(fmt::format("compiles to more than {} MiB of names of functions and variables", most >> 20));
    return ran.output;
  }

  void refuse_what_does_not_compile();
  void refuse_foreign_parts();
  void refuse_what_does_not_link();
  void refuse_what_cannot_start();

  const fs::path& program() const { return program_; }
  Isolation isolation() const { return isolation_; }

 private:
  [[noreturn]] void refuse(const std::string& why, const std::string& log = {}) const {
    throw Refused(lab_.file.filename().string() + " " + why, log);
  }
  Ran run(Command command, Errand& errand, std::size_t output_bytes = 0) {
    command.writable = scratch_.path();
    command.folder = lab_.build;  // names are relative to it
    Ran ran = errand.run(command, output_bytes);
    const std::string stopped = fs::path(command.argv.front()).filename().string() + " " + ran.stopped;
    if (!ran.stopped.empty() && &errand == &own_) throw std::runtime_error("with our own file, " + stopped);
    if (!ran.stopped.empty()) refuse("is too much for the compiler and the linker: " + stopped);
    isolation_ = weaker(isolation_, ran.isolation);
    ran.output =
        replaced(scratch_.path() + "/", lab_.file.parent_path().string() + "/", std::move(ran.output));
    return ran;
  }
  // Another user sees what is open to every user.
  void look_for_solutions() {
    const Ran ran = run({.argv = {"/usr/bin/test", "-r", lab_.root / "solutions"}}, own_);
    if (ran.is_well()) isolation_ = Isolation::limits;
  }

  const Lab& lab_;
  const Kit kit_;
  const ScratchFolder scratch_;
  const fs::path here_ = scratch_.path(), source_ = here_ / lab_.file.filename(),
                 object_ = here_ / "graded.o", program_ = here_ / "runner";
  std::string symbols_;    // of the object
  Errand errand_{limits};  // with what was handed in
  Errand own_{limits};     // with what is ours
  Isolation isolation_ = Isolation::bubblewrap;
};

// If the header alone does not compile either, the fault is ours.
void Build::refuse_what_does_not_compile() {
  const Ran ran = compile(source_, object_, errand_);
  if (ran.is_well()) return;
  const auto control = here_ / "control.cpp";
  std::ofstream(control) << fmt::format("#include \"{}\"\n", lab_.file.stem().string() + ".h");
  const Ran check = compile(control, here_ / "control.o", own_);
  if (!check.is_well())
    throw std::runtime_error(
        fmt::format("the compiler does not work (exit status {}): {}", check.exit_code, check.output));
  if (ran.output.empty())
    refuse(fmt::format("is too much for the compiler, which ended with status {}", ran.exit_code));
  refuse("does not compile", ran.output);
}

void Build::refuse_foreign_parts() {
  std::set<std::string> allowed, words;
  for (const auto& header : public_headers(lab_)) {
    allowed.insert(header);
    words.merge(words_in(contents(header)));
  }
  const auto foreign = foreign_include(contents(object_.string() + ".d"), lab_.root, allowed);
  if (!foreign.empty())
    refuse(fmt::format("includes {}; dist/dist.h and the lab's own header are what it may include", foreign));
  if (has_hidden_code(contents(object_)))
    refuse("is not accepted: it has parts for link-time optimization, which are not looked into");
  symbols_ = symbols_of(object_, {}, errand_);
  const auto symbol = foreign_symbol(symbols_, words, kept_away(contents(contract_of(lab_))));
  if (!symbol.empty()) refuse("is not accepted: " + symbol);
}

void Build::refuse_what_does_not_link() {
  const Ran ran = link(object_, program_, errand_);
  if (!ran.is_well()) {
    const Ran check = link(kit_.own_object, here_ / "control", own_);
    if (!check.is_well()) throw std::runtime_error("the linker does not work: " + check.output);
    refuse("does not link", ran.output);
  }
  const Words exported{"-D", "--defined-only"};
  const auto of_program = symbols_of(program_, exported, errand_);
  std::string of_libraries;
  for (const auto& library : kit_.libraries) of_libraries += symbols_of(library, exported, own_);
  const auto symbol = interposing_symbol(symbols_, of_program, of_libraries);
  if (!symbol.empty()) refuse("is not accepted: " + symbol);
  refuse_what_cannot_start();
}

// Its variables may need more memory than a rank has. If another program of this lab can be loaded, that is
// the submission's fault.
void Build::refuse_what_cannot_start() {
  try {
    libraries_of(program_);
  } catch (const Trouble& trouble) {
    const auto control = here_ / "control";
    if (!link(kit_.own_object, control, own_).is_well()) throw;
    libraries_of(control);
    refuse("cannot be started; do its global variables need more memory than a rank has (768 MiB)?",
           trouble.what());
  }
}

}  // namespace

BuiltRunner build_submission(const Lab& lab, const fs::path& handed_in, const fs::path& into) {
  const auto taken = take_submission(handed_in, lab.file);
  Build build(lab, taken.text);
  build.refuse_what_does_not_compile();
  build.refuse_foreign_parts();
  build.refuse_what_does_not_link();
  const auto program = into / "runner";
  fs::copy_file(build.program(), program, fs::copy_options::overwrite_existing);
  fs::permissions(program, fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec |
                               fs::perms::others_read | fs::perms::others_exec);
  return {program, build.isolation(), taken.note};
}

}  // namespace judge

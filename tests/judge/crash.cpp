#include "judge/crash.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <map>
#include <sstream>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "judge/confined_run.h"
#include "judge/progress.h"

namespace judge {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t most_words = 64;    // of a command
constexpr Milliseconds most_work{6'000};  // of all looks; one takes some 0.05 s

// Neither the system's code, nor the library's, nor the grader's part of the runner.
bool is_graded(const fs::path& file) {
  const std::string path = file;
  const auto has = [&](std::string_view part) { return path.find(part) != path.npos; };
  return path != "??" && !path.starts_with("/usr/") && !has("/lib/dist/") && !has("/judge/last_words.cpp") &&
         !path.ends_with("runner.cpp");
}

// "file:line" of graded code, innermost first, calls that the compiler has put in place included.
std::vector<std::string> places_of(const std::string& program, const Json& frames) {
  Command command{.argv = {"/usr/bin/addr2line", "-i", "-e", program}, .readable = {program}};
  for (const Json& frame : frames) {
    if (command.argv.size() < most_words && frame.is_number_unsigned())
      command.argv.push_back(fmt::format("{:#x}", frame.get<std::uint64_t>()));
  }
  // A program that crashes everywhere may also have made its own table of lines, one that takes long to read.
  static Milliseconds left = most_work;
  static std::map<std::vector<std::string>, std::vector<std::string>> known;
  if (const auto found = known.find(command.argv); found != known.end()) return found->second;
  if (left <= Milliseconds(0)) return {};
  const Ran ran = run_confined(command, {.in_all = most_work / 3});
  left -= ran.stopped.empty() ? ran.spent : most_work;
  progress().beyond += ran.spent;
  std::vector<std::string> places;
  std::istringstream lines(ran.output);
  for (std::string line; std::getline(lines, line);) {
    line = line.substr(0, line.find(" (discriminator"));
    const auto colon = line.rfind(':');
    if (colon == line.npos || !is_graded(line.substr(0, colon))) continue;
    places.push_back(fs::path(line.substr(0, colon)).filename().string() + line.substr(colon));
  }
  known[command.argv] = places;
  return places;
}

// "__n < this->size()" of "...: Assertion '__n < this->size()' failed."
std::string_view broken_rule(std::string_view printed) {
  constexpr std::string_view before = "Assertion '", after = "' failed";
  const auto begin = printed.find(before);
  const auto end = printed.find(after, begin);
  if (end == printed.npos) return "";
  return printed.substr(begin + before.size(), end - begin - before.size());
}

// The words of the C library, whichever function notices it: "free(): invalid pointer".
bool has_broken_the_heap(std::string_view printed) {
  constexpr std::array signs{
      "free(): ", "malloc(): ", "realloc(): ", "munmap_chunk(): ", "corrupt", "double free"};
  return std::ranges::any_of(signs,
                             [&](std::string_view sign) { return printed.find(sign) != printed.npos; });
}

std::string abort_in_words(std::string_view printed) {
  const auto rule = broken_rule(printed);
  const auto has = [&](std::string_view part) { return rule.find(part) != rule.npos; };
  if (has("< this->size()") || has("< size()"))
    return "an index is out of range: [i] of a std::vector, or of a tensor's data(), that has no element i";
  if (has("empty()")) return "front() or back() of what is empty";
  if (has("_M_is_engaged") || has("has_value()")) return "the value of a std::optional that has none";
  if (!rule.empty()) return fmt::format("the standard library asks for {}", rule);
  if (has_broken_the_heap(printed))
    return "the heap is broken: something was written beyond the end of what was allocated, or freed twice; "
           "that may have happened before";
  return "something called abort()";
}

std::string cause(int signal, std::uint64_t address, const std::vector<std::string>& places,
                  std::string_view printed) {
  constexpr std::uint64_t first_page = 4096;
  constexpr std::size_t deep = 40;  // all that there was room for
  switch (signal) {
    case SIGABRT: return abort_in_words(printed);
    case SIGFPE: return "an integer is divided by zero";
    case SIGILL: return "the end of a function that has no return there";
    case SIGSEGV:
    case SIGBUS:
      if (places.size() >= deep) return "the stack is used up: a function calls itself without end";
      if (address < first_page) return "a null pointer is used, or the data of a tensor that has none";
      return "memory is used that does not belong to it: beyond the end of a tensor, or of one that is gone";
    default: return "";
  }
}

}  // namespace

std::string crash_in_words(const std::string& program, const Json& told, const std::string& printed) {
  if (!told.is_object() || !told.value("frames", Json()).is_array()) return "";
  const auto places = places_of(fs::canonical(program), told["frames"]);
  const int signal = told.value("signal", 0);
  if (places.empty())
    return signal == SIGABRT && has_broken_the_heap(printed) ? "because " + abort_in_words(printed) : "";
  return fmt::format("at {}: {}", places.front(),
                     cause(signal, told.value("address", std::uint64_t{0}), places, printed));
}

}  // namespace judge

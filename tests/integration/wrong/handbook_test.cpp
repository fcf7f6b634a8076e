// The pages of the handbook show the programs of this folder, and what is really reported about them.
#include <algorithm>
#include <functional>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dist/dist.h"

#include "programs.h"
#include "sources.h"
#include "support/expect_error.h"

namespace dist::test {
namespace {

using Lines = std::vector<std::string>;

// The lines between the fences of the first block that begins with `fence`, after the heading.
Lines block(const Lines& page, const std::string& heading, const std::string& fence) {
  auto at = std::ranges::find(page, heading);
  at = std::find(at, page.end(), fence);
  if (at == page.end()) return {};
  return {at + 1, std::find(at + 1, page.end(), "```")};
}

Lines split(const std::string& text) {
  std::istringstream in(text);
  Lines lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string joined(const Lines& lines) {
  std::string text;
  for (const auto& line : lines) text += line + '\n';
  return text;
}

class Page : public testing::TestWithParam<int> {
 protected:
  const std::string code = "D" + std::to_string(GetParam());
  const Lines page = lines_of_file(std::string(HANDBOOK_FOLDER) + '/' + code + ".md");
  const Lines shown = block(page, "## The smallest wrong program", "```cpp");

  // The program that the page shows: "// swap.cpp" is d01_swap.cpp.
  const WrongProgram& program() const {
    for (const WrongProgram& candidate : wrong_programs()) {
      if (!shown.empty() &&
          fmt::format("{}.cpp", candidate.name) == fmt::format("d{:02}_{}", GetParam(), shown[0].substr(3)))
        return candidate;
    }
    throw std::runtime_error(code + ".md shows a program that is not in " WRONG_FOLDER);
  }
};

TEST_P(Page, ShowsAProgramOfThisFolder) {
  const Source source(program().name);
  const Lines begin(source.lines.begin(), source.lines.begin() + std::min(source.lines.size(), shown.size()));
  EXPECT_EQ(joined(shown), joined(begin));
}

TEST_P(Page, QuotesTheReport) {
  if (program().found == Found::not_yet) GTEST_SKIP() << code << " is not found yet";
  sim::RunOptions options;
  options.ranks = Source(program().name).ranks;
  const auto report = sim::run(options, program().wrong);
  ASSERT_FALSE(report.findings.empty());
  Lines said = split(report.findings[0].text());
  const std::string ours = std::string(program().name) + ".cpp", theirs = shown[0].substr(3);
  for (std::string& line : said) {
    for (std::size_t at = 0; (at = line.find(ours, at)) != line.npos;) line.replace(at, ours.size(), theirs);
  }
  EXPECT_EQ(joined(block(page, "## The report", "```")), joined(said));
}

// What the ranks of real processes say, all of them together.
std::string said_by_ranks(int ranks, const char* transport, const char* debug,
                          const std::function<void(int)>& rank_main) {
  const ScopedEnv timeout("DIST_TIMEOUT", "5"), by("DIST_TRANSPORT", transport), detail("DIST_DEBUG", debug);
  testing::internal::CaptureStderr();
  spawn(ranks, [&](int rank) {
    try {
      rank_main(rank);
    } catch (const Error& error) {
      fmt::print(stderr, "{}\n", error.what());
    }
  });
  return testing::internal::GetCapturedStderr();
}

// The texts in backticks below "On the host backend"; an omission ("...") ends one and begins the next.
Lines quotes_of_host_backend(const Lines& page) {
  std::string section;
  for (auto at = std::ranges::find(page, "## On the host backend"); at != page.end(); ++at)
    section += *at + ' ';
  Lines quotes;
  std::istringstream in(section);
  bool is_quoted = false;
  for (std::string text; std::getline(in, text, '`'); is_quoted = !is_quoted) {
    if (!is_quoted || text.find(' ') == text.npos) continue;  // a name, no sentence
    for (std::size_t from = 0, to = 0; to != text.npos; from = to + 3) {
      to = text.find("...", from);
      if (const std::string quote = text.substr(from, to - from); !quote.empty()) quotes.push_back(quote);
    }
  }
  return quotes;
}

class HostSection : public Page {};

TEST_P(HostSection, QuotesTheRanks) {
  const int ranks = Source(program().name).ranks;
  std::string said;
  for (const char* debug : {"off", "detail"}) said += said_by_ranks(ranks, "shm", debug, program().wrong);
  if (GetParam() == 3) {
    said += said_by_ranks(2, "tcp", "off", [](int rank) {
      init_process_group();
      Tensor t = ones({4}, rank == 0 ? DType::f32 : DType::i32);
      rank == 0 ? send(t, 1) : recv(t, 0);
    });
    said += said_by_ranks(2, "tcp", "off", [](int rank) {
      init_process_group();
      Tensor t = ones({262'144 * (1 + rank)});  // segments of one size
      all_reduce(t);
    });
  }
  const std::string ours = std::string(program().name) + ".cpp", theirs = shown[0].substr(3);
  for (std::size_t at = 0; (at = said.find(ours, at)) != said.npos;) said.replace(at, ours.size(), theirs);
  const Lines quotes = quotes_of_host_backend(page);
  EXPECT_FALSE(quotes.empty());
  for (const std::string& quote : quotes) EXPECT_NE(said.find(quote), said.npos) << quote << "\n" << said;
}

const auto code_of_page = [](const auto& of) { return "D" + std::to_string(of.param); };
INSTANTIATE_TEST_SUITE_P(Handbook, Page, testing::Range(1, 14), code_of_page);
// The other pages quote no error, or one with times in it.
INSTANTIATE_TEST_SUITE_P(Handbook, HostSection, testing::Values(2, 3, 7, 9, 11, 12, 13), code_of_page);

}  // namespace
}  // namespace dist::test

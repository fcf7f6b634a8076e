// A lab uses of the library only what a handout has named by then, as code: its own or an earlier one. What
// is used is read from the hints, the starter and the solution; what is taught, from the handouts and the
// contract headers.
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "distlab/digest.h"
#include "labs.h"
#include "text.h"

namespace ladder {
namespace {

using Words = std::set<std::string>;

// Members of the library's types. What the standard library's have as well is known to whoever writes C++.
Words members() {
  Words all;
  for (const char* header :
       {"core/error.h", "core/tensor.h", "backend/work.h", "group/process_group.h", "store/store.h"})
    all.merge(identifiers(without_comments(text_of(root() / "lib/dist" / header))));
  for (const char* known : {"data", "empty", "get", "size", "swap"}) all.erase(known);
  return all;
}

Words taught_by(const Lab& lab) {
  Words all = words_in_code_of(lab.handout);
  all.merge(identifiers(without_comments(text_of(lab.path / (lab.name() + ".h")))));
  return all;
}

Words missing(const Words& used, const Words& taught) {
  Words rest;
  std::ranges::set_difference(used, taught, std::inserter(rest, rest.end()));
  return rest;
}

// A student may be solving the lab: their file may use whatever it likes.
bool is_untouched(const std::string& starter) {
  const std::string digest = distlab::digest_of_text(starter);
  return text_of(root() / "tests/grading/starters.sha256").find(digest) != std::string::npos;
}

// The taught words of all labs up to each, and what `code_of(lab)` uses beyond them.
void expect_taught(const auto& code_of) {
  const Words known = members();
  Words taught;
  for (const Lab& lab : labs()) {
    taught.merge(taught_by(lab));
    EXPECT_EQ(missing(calls(code_of(lab), known), taught), Words())
        << "used in " << lab.folder
        << ", but named as code in no handout up to it: name it in the table of calls";
  }
}

TEST(Calls, OfSolutionsWereTaught) {
  if (!std::filesystem::exists(root() / "solutions")) GTEST_SKIP() << "a tree for students has no solutions";
  expect_taught([](const Lab& lab) {
    return without_comments(text_of(root() / "solutions" / lab.folder / (lab.name() + ".cpp")));
  });
}

TEST(Calls, OfStartersWereTaught) {
  expect_taught([](const Lab& lab) {
    const std::string starter = text_of(lab.path / (lab.name() + ".cpp"));
    return is_untouched(starter) ? starter : std::string();
  });
}

TEST(Calls, OfHintsWereTaught) {
  expect_taught([](const Lab& lab) {
    std::string all;
    for (const auto& hint : files_below(lab.path / "hints")) all += text_of(hint);
    return all;
  });
}

TEST(Calls, AreFound) {
  const Words known{"wait", "item", "numel"};
  EXPECT_EQ(calls("dist::send(t, 1); w.wait(); p->numel(); v.push_back(1); t.item<double>();", known),
            (Words{"send", "wait", "numel", "item"}));
  EXPECT_EQ(calls("dist::recv(t, 0, {.group = g, .tag = 1});", known), (Words{"recv", "group", "tag"}));
  EXPECT_EQ(words_in_code_of("A `t.clone()` of\n```cpp\nauto x = a;\n```\n```\nnot this\n```\nnor this"),
            (Words{"t", "clone", "auto", "x", "a"}));
  EXPECT_EQ(without_comments("a; // b\nc\n"), "a; \nc\n");
}

}  // namespace
}  // namespace ladder

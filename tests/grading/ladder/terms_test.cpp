// Every term of the glossary is explained where it first comes up in the ladder of handouts: bold, or linked
// to the glossary, in the same chapter. Only the glossary says what the terms are.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "labs.h"
#include "text.h"

namespace ladder {
namespace {

const std::string handbook = "labs/handbook/";

std::string glossary(const std::string& file = "glossary.md") { return text_of(root() / handbook / file); }

bool explains(const Chapter& chapter, const Term& term) {
  return chapter.text.find("/glossary.md#" + term.id + ")") != std::string::npos ||
         std::ranges::any_of(term.forms,
                             [&](const std::string& form) { return is_bold(chapter.text, form); });
}

std::size_t first_of(const Chapter& chapter, const Term& term) {
  std::size_t first = std::string::npos;
  for (const std::string& form : term.forms) first = std::min(first, find_term(chapter.text, form));
  return first;
}

// The place where the term is first used, if it is not explained there; otherwise, or if it is never used,
// empty.
std::string hole(const std::vector<Lab>& ladder, const Term& term) {
  for (const Lab& lab : ladder) {
    for (const Chapter& chapter : chapters(lab.handout)) {
      const std::size_t first = first_of(chapter, term);
      if (first == std::string::npos) continue;
      if (explains(chapter, term)) return {};
      const auto line =
          std::count(chapter.text.begin(), chapter.text.begin() + static_cast<std::ptrdiff_t>(first), '\n');
      return "labs/" + lab.folder + "/README.md:" + std::to_string(chapter.first_line + line);
    }
  }
  return {};
}

TEST(Terms, AreExplainedWhereTheyFirstComeUp) {
  const auto ladder = labs();
  const auto terms = terms_of(glossary());
  EXPECT_GT(terms.size(), 50u);
  for (const Term& term : terms) {
    const std::string place = hole(ladder, term);
    EXPECT_EQ(place, "") << place << ": \"" << term.forms[0]
                         << "\" first comes up here. Say there what it is (**" << term.forms[0]
                         << "**), or link it: [" << term.forms[0] << "](../handbook/glossary.md#" << term.id
                         << "), and in README.zh-CN.md (../handbook/glossary.zh-CN.md#zh-" << term.id << ")";
  }
}

TEST(Terms, AHoleIsFound) {
  const Term ring{"ring", {"ring"}}, dog{"dog", {"dog"}};
  const auto ladder_of = [](const std::string& first, const std::string& second) {
    return std::vector<Lab>{{"01_a", {}, "# Lab 01\n\n## The story\n\n" + first},
                            {"02_b", {}, "# Lab 02\n\n## A\n" + second}};
  };
  EXPECT_EQ(hole(ladder_of("Two\nrings.\n", "A **ring** is round."), ring), "labs/01_a/README.md:6");
  EXPECT_EQ(hole(ladder_of("Spring.\n\n```\nring\n```\n", "No ring."), ring), "labs/02_b/README.md:4");
  EXPECT_EQ(hole(ladder_of("**Rings** are round.\n", "A ring."), ring), "");
  EXPECT_EQ(hole(ladder_of("[ring](../handbook/glossary.md#ring)\n", "A ring."), ring), "");
  EXPECT_EQ(hole(ladder_of("[ring](../handbook/glossary.md#rings)\n", "A ring."), ring),
            "labs/01_a/README.md:5");
  EXPECT_EQ(hole(ladder_of("A ring.\n\n## Later\n\nA **ring** is round.\n", ""), ring),
            "labs/01_a/README.md:5");
  EXPECT_EQ(hole(ladder_of("`lib/ring.h`, `ring_shift`, ring-like, ring.h\n", "nothing"), ring), "");
  EXPECT_EQ(hole(ladder_of("", ""), dog), "");
}

TEST(Terms, BothGlossariesHaveTheSameOnesInTheSameOrder) {
  const auto english = terms_of(glossary()), chinese = terms_of(glossary("glossary.zh-CN.md"));
  ASSERT_EQ(english.size(), chinese.size());
  std::set<std::string> ids;
  for (std::size_t i = 0; i < english.size(); ++i) {
    EXPECT_EQ("zh-" + english[i].id, chinese[i].id);
    EXPECT_FALSE(english[i].forms.empty()) << english[i].id;
    EXPECT_TRUE(ids.insert(english[i].id).second) << english[i].id << " is there twice";
  }
}

TEST(Terms, ChineseHandoutsLinkTheSameOnes) {
  for (const Lab& lab : labs())
    EXPECT_EQ(glossary_links(lab.handout), glossary_links(text_of(lab.path / "README.zh-CN.md")))
        << lab.folder;
}

}  // namespace
}  // namespace ladder

// What is not accepted of a submission once it is compiled.
#include "judge/object_check.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace {

// nm's lines: sixteen digits or blanks, a letter, a name.
std::string symbols(char kind, const std::string& name) {
  return fmt::format("{:>16} {} {}\n", kind == 'U' ? "" : "0000000000000010", kind, name);
}

TEST(ObjectCheck, TheFaceOfTheLibraryIsForEverybody) {
  const auto words = judge::words_in(
      "Work send(const Tensor& t, int dst); class Options; struct Tensor { void fill_(double); };");
  for (const char* used :
       {"dist::send(dist::Tensor const&, int, dist::Options const&)", "dist::Tensor::fill_(double)",
        "typeinfo for dist::Tensor", "operator new(unsigned long)"})
    EXPECT_EQ(judge::foreign_symbol(symbols('U', used), words), "") << used;
  for (const char* used :
       {"dist::ring_all_reduce(dist::Tensor&)", "dist::sim::Tensor::send()", "judge::serve()"})
    EXPECT_NE(judge::foreign_symbol(symbols('U', used), words), "") << used;
}

// Whether the library's code was called or came in with a template or an inline function.
TEST(ObjectCheck, WhatAContractKeepsAwayIsNotUsed) {
  const auto words = judge::words_in("Tensor data DistributedSampler size(); namespace data_types Kind name");
  const auto kept = judge::kept_away("// The contract.\n// Not for this lab: dist::data\n#pragma once\n");
  EXPECT_EQ(kept, std::set<std::string>{"dist::data"});
  for (const char* used : {"dist::data::DistributedSampler::size() const",
                           "std::vector<dist::data::DistributedSampler>::~vector()"}) {
    for (const char kind : {'U', 'W'})
      EXPECT_NE(judge::foreign_symbol(symbols(kind, used), words, kept), "") << used;
    EXPECT_EQ(judge::foreign_symbol(symbols('U', used), words), "") << used << ": other labs may";
  }
  for (const char* used : {"dist::Tensor::data()", "dist::data_types::name(dist::data_types::Kind)"})
    EXPECT_EQ(judge::foreign_symbol(symbols('U', used), words, kept), "") << used;
}

TEST(ObjectCheck, NamesOfOthersAreNotDefined) {
  for (const char* name :
       {"dist::send(int)", "judge::serve()", "testing::InitGoogleTest()", "std::terminate()"})
    EXPECT_NE(judge::foreign_symbol(symbols('T', name), {}), "") << name;
  EXPECT_EQ(judge::foreign_symbol(symbols('W', "std::vector<int>::push_back(int)"), {}), "")
      << "a template's code";
  EXPECT_EQ(judge::foreign_symbol(symbols('T', "lab::relay(dist::Tensor&)"), {}), "");
  EXPECT_EQ(judge::foreign_symbol(symbols('t', "dist::helper()"), {}), "") << "static: no other file's";
}

TEST(ObjectCheck, NamesOfTheGraderAreNotDefinedWeaklyEither) {
  for (const char* name : {"judge::serve(int)", "testing::Test::SetUp()"})
    EXPECT_NE(judge::foreign_symbol(symbols('W', name), {}), "") << name;
  EXPECT_EQ(judge::foreign_symbol(symbols('W', "std::vector<int>::size()"), {}), "");
}

TEST(ObjectCheck, WhatALibraryWouldTakeIsNotDefined) {
  EXPECT_NE(judge::interposing_symbol(symbols('T', "write"), symbols('T', "write"), ""), "");
  EXPECT_EQ(judge::interposing_symbol(symbols('T', "helper"), symbols('T', "write"), ""), "");
  EXPECT_EQ(judge::interposing_symbol(symbols('W', "std::f()"), symbols('W', "std::f()"), ""), "");
}

// The dynamic linker takes these as well.
TEST(ObjectCheck, AWeakDefinitionIsNoExcuse) {
  for (const char kind : {'W', 'V', 'i', 'u', 'A'})
    EXPECT_NE(judge::interposing_symbol(symbols(kind, "sendmsg"), symbols(kind, "sendmsg"), ""), "") << kind;
  const std::string recv = "dist::recv(dist::Tensor&, int)";
  EXPECT_NE(judge::interposing_symbol(symbols('W', recv), symbols('W', recv), symbols('T', recv)), "");
  EXPECT_EQ(judge::interposing_symbol(symbols('W', recv), symbols('W', recv), symbols('W', recv)), "")
      << "inline in both";
}

TEST(ObjectCheck, NothingIsLookedUpByName) {
  const auto words = judge::words_in("Work send(const Tensor& t, int dst);");
  for (const char* used : {"dlsym", "dlopen@GLIBC_2.34", "dl_iterate_phdr"})
    EXPECT_NE(judge::foreign_symbol(symbols('U', used), words), "") << used;
  EXPECT_NE(judge::foreign_symbol(symbols('w', "dist::binary_node(int, int)"), words), "")
      << "declared weak: it would be there";
  EXPECT_EQ(judge::foreign_symbol(symbols('w', "__gmon_start__"), words), "");
}

TEST(ObjectCheck, IncludesAreTheContractAndTheFace) {
  const std::string rule =
      "graded.o: send_recv.cpp /src/labs/x.h \\\n /src/lib/dist/dist.h /usr/include/stdio.h\n";
  EXPECT_EQ(judge::foreign_include(rule, "/src", {"/src/labs/x.h", "/src/lib/dist/dist.h"}), "");
  EXPECT_EQ(judge::foreign_include(rule, "/src", {"/src/labs/x.h"}), "lib/dist/dist.h");
}

TEST(ObjectCheck, IncludesHaveOtherNamesToo) {
  for (const char* name : {"//src/inside.h", "/tmp/../src/inside.h"})
    EXPECT_EQ(judge::foreign_include(fmt::format("graded.o: {}\n", name), "/src", {}), "inside.h") << name;
  EXPECT_EQ(judge::foreign_include("graded.o: /my\\ src/inside.h\n", "/my src", {}), "inside.h");
  EXPECT_EQ(judge::foreign_include("graded.o: /my\\ src/x.h\n", "/my src", {"/my src/x.h"}), "");
}

// The names of its sections are in an object, one after the other.
TEST(ObjectCheck, PartsForLinkTimeOptimizationAreSeen) {
  EXPECT_TRUE(judge::has_hidden_code({".text\0.gnu.lto_.symtab.1\0", 25}));
  EXPECT_FALSE(judge::has_hidden_code({".text\0.gnu.linkonce\0", 20}));
}

}  // namespace

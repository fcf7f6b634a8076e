// What is taken out of a submission, what is not accepted, and what is built of it.
#include "judge/submission.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "judge/build_submission.h"
#include "judge/confined_run.h"
#include "judge/kit.h"
#include "judge/object_check.h"

namespace {

namespace fs = std::filesystem;

const fs::path wanted = "labs/03_send_recv/send_recv.cpp";

class Submission : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) {
    fs::create_directories((here / path).parent_path());
    std::ofstream(here / path, std::ios::binary) << text;
  }
  // The same as `zip -r NAME.zip FILES`, run in `here`; names may lead out of it.
  fs::path zip(const std::string& name, const std::string& files) const {
    const auto command =
        fmt::format("cd '{}' && cmake -E tar cf {} --format=zip {}", here.string(), name, files);
    EXPECT_EQ(std::system(command.c_str()), 0);
    return here / name;
  }
  std::string refusal(const fs::path& handed_in) const {
    try {
      return "taken: " + judge::take_submission(handed_in, wanted);
    } catch (const judge::Refused& refused) {
      return refused.what();
    }
  }

  const judge::ScratchFolder scratch;
  const fs::path here = scratch.path();
};

TEST_F(Submission, IsTheFileItself) {
  write("anything.cpp", "int x;\r\n");
  EXPECT_EQ(judge::take_submission(here / "anything.cpp", wanted), "int x;\r\n");
}

TEST_F(Submission, IsFoundInAFolder) {
  write("labs/03_send_recv/send_recv.cpp", "right");
  write("send_recv.cpp", "another");
  write("labs/04_isend_irecv/isend_irecv.cpp", "not asked for");
  EXPECT_EQ(judge::take_submission(here, wanted), "right");
}

TEST_F(Submission, IsTheOuterOneOfSeveral) {
  write("mine/send_recv.cpp", "outer");
  write("mine/old/send_recv.cpp", "inner");
  EXPECT_EQ(judge::take_submission(here, wanted), "outer");
}

TEST_F(Submission, OfTwoAlikeNeitherIsTaken) {
  write("a/send_recv.cpp", "one");
  write("b/send_recv.cpp", "two");
  EXPECT_NE(refusal(here).find("hand in one"), std::string::npos) << refusal(here);
  write("b/send_recv.cpp", "one");
  EXPECT_EQ(refusal(here), "taken: one") << "copies of each other";
}

TEST_F(Submission, TheOnlySourceMayHaveAnotherName) {
  for (const char* name : {"send_recv (1).cpp", "Send_Recv.CPP", "[lab] 3.cpp"}) {
    write(std::string("mine/") + name, name);
    write("mine/._send_recv (1).cpp", "what macOS adds");
    write("mine/notes.txt", "");
    EXPECT_EQ(judge::take_submission(here / "mine", wanted), name);
    EXPECT_EQ(judge::take_submission(zip("mine.zip", "mine"), wanted), name);
    fs::remove_all(here / "mine");
    fs::remove(here / "mine.zip");
  }
}

TEST_F(Submission, OfTwoSourcesWithOtherNamesNeitherIsTaken) {
  write("mine/main.cpp", "one");
  write("mine/lab.cpp", "two");
  EXPECT_EQ(refusal(here / "mine"), "send_recv.cpp was not handed in");
  EXPECT_EQ(refusal(zip("mine.zip", "mine")), "send_recv.cpp is not in mine.zip");
}

TEST_F(Submission, IsFoundInAZip) {
  write("labs/03_send_recv/send_recv.cpp", "zipped");
  write("extra/main.cpp", "not looked at");
  EXPECT_EQ(judge::take_submission(zip("lab_03.zip", "labs extra"), wanted), "zipped");
}

TEST_F(Submission, IsFoundInAZipOfAWholeBuild) {
  const std::string long_name(200, 'x');
  for (int i = 0; i < 2500; ++i) write(fmt::format("build/{0}/{0}/{0}/{1}.o", long_name, i), "");
  write("labs/send_recv.cpp", "zipped");
  EXPECT_EQ(judge::take_submission(zip("all.zip", "build labs"), wanted), "zipped");
  fs::rename(here / "labs/send_recv.cpp", here / "labs/mine.cpp");
  EXPECT_EQ(judge::take_submission(zip("other.zip", "build labs"), wanted), "zipped");
  fs::remove(here / "labs/mine.cpp");
  EXPECT_EQ(refusal(zip("none.zip", "build labs")), "send_recv.cpp is not in none.zip");
}

TEST_F(Submission, IsFoundInAZipInAFolder) {
  write("send_recv.cpp", "zipped");
  zip("lab_03.zip", "send_recv.cpp");
  fs::remove(here / "send_recv.cpp");
  EXPECT_EQ(judge::take_submission(here, wanted), "zipped");
}

TEST_F(Submission, FoldersInAZipHaveWhateverNames) {
  for (const std::string folder : {"my lab (final) [2]", "[CS101] Lab 5", "^lab$", "*"}) {
    write(folder + "/send_recv.cpp", "of " + folder);
    write("x/y/send_recv.cpp", "deeper");
    EXPECT_EQ(judge::take_submission(zip("lab_03.zip", "'" + folder + "' x"), wanted), "of " + folder);
    fs::remove_all(here / folder);
  }
}

TEST_F(Submission, OfTwoZipsNeitherIsTaken) {
  write("send_recv.cpp", "zipped");
  zip("lab_03.ZIP", "send_recv.cpp");
  zip("'lab_03 (1).zip'", "send_recv.cpp");
  fs::remove(here / "send_recv.cpp");
  EXPECT_EQ(refusal(here), "there are lab_03 (1).zip and lab_03.ZIP; hand in one");
  fs::remove(here / "lab_03 (1).zip");
  EXPECT_EQ(refusal(here), "taken: zipped");
}

TEST_F(Submission, AZipReachesNothingOutside) {
  write("inner/x.txt", "");
  write("send_recv.cpp", "from outside");
  const auto path = zip("inner/up.zip", "../" + here.filename().string() + "/send_recv.cpp");
  EXPECT_NE(refusal(path).find("cannot be unpacked"), std::string::npos) << refusal(path);
}

TEST_F(Submission, WhatIsNoZipIsSaidSo) {
  write("cut.zip", "PK\x03\x04 and then nothing");
  write("empty.zip", "");
  write("text.zip", "int x;");
  for (const char* name : {"cut.zip", "empty.zip", "text.zip"})
    EXPECT_EQ(refusal(here / name), fmt::format("{} is no zip file, or a damaged one", name));
}

TEST_F(Submission, LinksAreNotFollowed) {
  fs::create_symlink("/etc/passwd", here / "send_recv.cpp");
  EXPECT_EQ(refusal(here), "send_recv.cpp is a link; hand in the file itself");
}

TEST_F(Submission, TextHasAnEncodingAndASize) {
  write("wide.cpp", std::string("\xff\xfei\0n\0t\0", 8));
  EXPECT_NE(refusal(here / "wide.cpp").find("save it as UTF-8"), std::string::npos);
  write("lab.rar", std::string("Rar!\x1a\x07\0x", 8));
  EXPECT_EQ(refusal(here / "lab.rar"),
            "lab.rar is no .cpp file, no folder and no zip file; hand in one of these");
  write("long.cpp", std::string(600 << 10, ' '));
  EXPECT_EQ(refusal(here / "long.cpp"), "long.cpp has 600 KiB; the file of a lab has at most 512");
  zip("bomb.zip", "long.cpp");
  write("send_recv.cpp", std::string(50 << 20, ' '));
  const auto bomb = zip("bomb.zip", "send_recv.cpp");
  fs::remove(here / "send_recv.cpp");
  EXPECT_NE(refusal(bomb).find("larger than 512 KiB"), std::string::npos) << refusal(bomb);
}

TEST_F(Submission, WhatIsNotThereIsSaidSo) {
  write("report.pdf", "%PDF");
  EXPECT_EQ(refusal(here), "send_recv.cpp was not handed in");
  EXPECT_EQ(refusal(here / "nothing"), fmt::format("there is no file or folder {}/nothing", here.string()));
}

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
  EXPECT_EQ(judge::foreign_symbol(symbols('t', "dist::helper()"), {}), "") << "static: nobody else's";
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

// This build tree under another name.
TEST_F(Submission, ABuildTreeMayHaveAnApostropheInItsName) {
  const fs::path build = fs::read_symlink("/proc/self/exe").parent_path().parent_path();
  fs::create_directory_symlink(build, here / "o'brien's");
  const judge::Lab lab{here / "o'brien's", JUDGE_ROOT, "labs/03_send_recv/send_recv.cpp"};
  EXPECT_FALSE(judge::kit_of(lab).compile.empty());
}

}  // namespace

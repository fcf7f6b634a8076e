// What is taken out of a submission, and where it is built.
#include "judge/submission.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "judge/build_submission.h"
#include "judge/confined_run.h"
#include "judge/kit.h"

namespace {

namespace fs = std::filesystem;

const fs::path wanted = "labs/03_send_recv/send_recv.cpp";

// Calls it where permissions bind, for root, too: in a thread that gives up what root is capable of.
void where_permissions_bind(const std::function<void()>& body) {
  std::thread([&] {
    __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    const __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
    ASSERT_EQ(::syscall(SYS_capset, &header, none), 0);
    body();
  }).join();
}

// A file or folder that is closed, until the end.
class Closed {
 public:
  explicit Closed(fs::path path, fs::perms but_for = fs::perms::none) : path_(std::move(path)) {
    fs::permissions(path_, but_for);
  }
  ~Closed() { fs::permissions(path_, fs::perms::owner_all); }
  Closed(const Closed&) = delete;

 private:
  fs::path path_;
};

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
  static std::string contents(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string refusal(const fs::path& handed_in) const {
    try {
      return "taken: " + judge::take_submission(handed_in, wanted).text;
    } catch (const judge::Refused& refused) {
      return refused.what();
    } catch (const std::runtime_error& trouble) {
      return std::string("ungraded: ") + trouble.what();
    }
  }

  const judge::ScratchFolder scratch;
  const fs::path here = scratch.path();
};

TEST_F(Submission, SaysThatAZipIsEncrypted) {
  write("send_recv.cpp", "int x;");
  const auto file = zip("a.zip", "send_recv.cpp");
  std::string bytes = contents(file);
  bytes[bytes.find("PK\3\4") + 6] |= 1;
  bytes[bytes.find("PK\1\2") + 8] |= 1;
  std::ofstream(file, std::ios::binary) << bytes;
  EXPECT_EQ(refusal(file), "a.zip is encrypted; hand in one without a password");
}

TEST_F(Submission, IsNotReadWhereItIsTooLarge) {
  for (const char* name : {"a.zip", "send_recv.cpp"}) {
    write(name, "PK");
    fs::resize_file(here / name, std::uintmax_t{20} << 30);  // a hole
    EXPECT_NE(refusal(here / name).find("has 20480 MiB; a zip file may have 64"), std::string::npos)
        << refusal(here / name);
  }
}

TEST_F(Submission, NamesTheFolderThatCannotBeLookedThrough) {
  EXPECT_NE(refusal("/proc").find("/proc"), std::string::npos) << refusal("/proc");
}

TEST_F(Submission, AnErrandHasOneLimitForAllItsCommands) {
  using judge::Milliseconds;
  judge::Errand errand({.in_all = Milliseconds(500)});
  const judge::Command little{.argv = {"/usr/bin/true"}},
      much{.argv = {"/bin/sh", "-c", "while :; do :; done"}, .readable = {"/bin/sh"}};
  EXPECT_TRUE(errand.run(little).is_well());
  const auto stopped = errand.run(much);
  EXPECT_NE(stopped.stopped.find("s of work and sleep"), std::string::npos) << stopped.stopped;
  EXPECT_EQ(errand.run(little).stopped, "was not started: all before it has taken 0.5 s");
}

TEST_F(Submission, IsTheFileItself) {
  write("anything.cpp", "int x;\r\n");
  EXPECT_EQ(judge::take_submission(here / "anything.cpp", wanted).text, "int x;\r\n");
}

TEST_F(Submission, IsFoundInAFolder) {
  write("labs/03_send_recv/send_recv.cpp", "right");
  write("send_recv.cpp", "another");
  write("labs/04_isend_irecv/isend_irecv.cpp", "not asked for");
  EXPECT_EQ(judge::take_submission(here, wanted).text, "right");
}

TEST_F(Submission, IsTheOuterOneOfSeveral) {
  write("mine/send_recv.cpp", "outer");
  write("mine/old/send_recv.cpp", "inner");
  EXPECT_EQ(judge::take_submission(here, wanted).text, "outer");
}

TEST_F(Submission, IsNotTheStarterBesideWhatWasWritten) {
  write("labs/03_send_recv/send_recv.cpp", "DIST_TODO(\"a\"); DIST_TODO(\"b\");");
  write("mine/send_recv.cpp", "written; DIST_TODO(\"b\");");
  const auto taken = judge::take_submission(here, wanted);
  EXPECT_EQ(taken.text, "written; DIST_TODO(\"b\");");
  EXPECT_EQ(taken.note,
            "mine/send_recv.cpp was graded, and not labs/03_send_recv/send_recv.cpp; hand in one file");
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
    EXPECT_EQ(judge::take_submission(here / "mine", wanted).text, name);
    EXPECT_EQ(judge::take_submission(zip("mine.zip", "mine"), wanted).text, name);
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
  EXPECT_EQ(judge::take_submission(zip("lab_03.zip", "labs extra"), wanted).text, "zipped");
}

TEST_F(Submission, IsFoundInAZipOfAWholeBuild) {
  const std::string long_name(200, 'x');
  for (int i = 0; i < 2500; ++i) write(fmt::format("build/{0}/{0}/{0}/{1}.o", long_name, i), "");
  write("labs/send_recv.cpp", "zipped");
  EXPECT_EQ(judge::take_submission(zip("all.zip", "build labs"), wanted).text, "zipped");
  fs::rename(here / "labs/send_recv.cpp", here / "labs/mine.cpp");
  EXPECT_EQ(judge::take_submission(zip("other.zip", "build labs"), wanted).text, "zipped");
  fs::remove(here / "labs/mine.cpp");
  EXPECT_EQ(refusal(zip("none.zip", "build labs")), "send_recv.cpp is not in none.zip");
}

TEST_F(Submission, IsFoundInAZipInAFolder) {
  write("send_recv.cpp", "zipped");
  zip("lab_03.zip", "send_recv.cpp");
  fs::remove(here / "send_recv.cpp");
  EXPECT_EQ(judge::take_submission(here, wanted).text, "zipped");
}

// They could be in each other without an end.
TEST_F(Submission, IsNotFoundInAZipInAZip) {
  const std::string name = wanted.filename().string();
  write(name, "too deep");
  zip("inner.zip", name);
  fs::remove(here / name);
  fs::create_directories(here / name);  // so that the unpacker's pattern fits what is in it
  fs::rename(here / "inner.zip", here / name / "inner.zip");
  write("1/2/3/4/5/6/7/8/" + name, "not looked for so deep");
  EXPECT_EQ(refusal(zip("outer.zip", name + " 1")), name + " was not handed in");
}

TEST_F(Submission, FoldersInAZipHaveWhateverNames) {
  for (const std::string folder : {"my lab (final) [2]", "[CS101] Lab 5", "^lab$", "*"}) {
    write(folder + "/send_recv.cpp", "of " + folder);
    write("x/y/send_recv.cpp", "deeper");
    EXPECT_EQ(judge::take_submission(zip("lab_03.zip", "'" + folder + "' x"), wanted).text, "of " + folder);
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
  write("send_recv.cpp", "from outside");
  const auto name = fmt::format("../{}/send_recv.cpp", here.filename().string());
  EXPECT_EQ(
      refusal(zip("up.zip", name)),
      fmt::format("up.zip holds {}, a name that leads out of the zip; hand in send_recv.cpp alone", name));
  write("mine/send_recv.cpp", "inside");
  write("notes.txt", "not looked at");
  const auto notes = fmt::format("../{}/notes.txt", here.filename().string());
  EXPECT_EQ(refusal(zip("both.zip", "mine " + notes)), "taken: inside");
}

std::string said_of_closed(const fs::path& path) {
  return fmt::format("ungraded: {} cannot be read: Permission denied; is it open to whoever grades?",
                     path.string());
}

TEST_F(Submission, WhatIsClosedToTheGraderIsNobodysFault) {
  write("of a folder/mine/send_recv.cpp", "");
  write("send_recv.cpp", "");
  fs::create_directory(here / "of a zip");
  zip("'of a zip/lab_03.zip'", "send_recv.cpp");
  zip("lab_03.zip", "send_recv.cpp");
  write("of a file/send_recv.cpp", "");
  const std::pair<const char*, const char*> handed_in_and_closed[] = {
      {"send_recv.cpp", "send_recv.cpp"},  {"lab_03.zip", "lab_03.zip"},
      {"of a zip", "of a zip/lab_03.zip"}, {"of a folder", "of a folder"},
      {"of a folder", "of a folder/mine"}, {"of a file", "of a file/send_recv.cpp"}};
  for (const auto& [handed_in, closed] : handed_in_and_closed) {
    const Closed until_asked(here / closed);
    where_permissions_bind([&, handed_in = handed_in, closed = closed] {
      EXPECT_EQ(refusal(here / handed_in), said_of_closed(here / closed));
    });
  }
  const Closed until_asked(here / "of a file");
  where_permissions_bind([&] {
    EXPECT_TRUE(refusal(here / "of a file/send_recv.cpp").starts_with("ungraded: "))
        << "whether it is there is not revealed";
  });
}

TEST_F(Submission, TheNamesInAFolderAreNotEnough) {
  write("mine/send_recv.cpp", "");
  const Closed until_asked(here / "mine", fs::perms::owner_read);
  where_permissions_bind([&] { EXPECT_EQ(refusal(here), said_of_closed(here / "mine")); });
}

TEST_F(Submission, AtItsOwnPlaceTheFileIsRightWhateverElseIsClosed) {
  write("labs/03_send_recv/send_recv.cpp", "right");
  write("old/send_recv.cpp", "");
  const Closed until_asked(here / "old");
  where_permissions_bind([&] { EXPECT_EQ(refusal(here), "taken: right"); });
}

// The same for every user that unpacks it.
TEST_F(Submission, AZipMayBeOpenToItsOwnerAlone) {
  write("send_recv.cpp", "zipped");
  const auto path = zip("lab_03.zip", "send_recv.cpp");
  fs::permissions(path, fs::perms::owner_read);
  EXPECT_EQ(refusal(path), "taken: zipped");
}

// The unpacker's pattern matches all names that end like it.
TEST_F(Submission, OfAZipLittleIsUnpacked) {
  write("send_recv.cpp", "zipped");
  for (int i = 0; i < 101; ++i) write(fmt::format("more/{}send_recv.cpp", i), "more");
  EXPECT_EQ(refusal(zip("many.zip", "send_recv.cpp more")),
            "many.zip has more than 100 files whose names end in send_recv.cpp; hand in one");
  for (int i = 0; i < 101; ++i) write(fmt::format("hidden/.{}.cpp", i), "more");
  write("mine.cpp", "zipped");
  EXPECT_EQ(refusal(zip("hidden.zip", "mine.cpp hidden")),
            "hidden.zip has more than 100 files whose names end in .cpp; hand in one");
}

// Its permissions are the upper half of four bytes in the zip's directory, which is at its end.
TEST_F(Submission, AZipMayCloseWhatIsInIt) {
  write("send_recv.cpp", "zipped");
  const auto path = zip("lab_03.zip", "send_recv.cpp");
  std::ifstream file(path, std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(file), {});
  const auto permissions = bytes.rfind("PK\x01\x02") + 40;
  bytes.at(permissions) = '\0';
  bytes.at(permissions + 1) = '\x80';  // a file, closed to all
  write("closed.zip", bytes);
  EXPECT_EQ(refusal(here / "closed.zip"), "taken: zipped");
}

TEST_F(Submission, WhatIsNoZipIsSaidSo) {
  write("cut.zip", "PK\x03\x04 and then nothing");
  write("empty.zip", "");
  write("text.zip", "int x;");
  for (const char* name : {"cut.zip", "empty.zip", "text.zip"})
    EXPECT_EQ(refusal(here / name), fmt::format("{} is not a zip file, or it is damaged", name));
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
            "lab.rar is not a .cpp file, a folder or a zip file; hand in one of these");
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
  EXPECT_EQ(refusal("/dev/null"),
            "/dev/null is not a .cpp file, a folder or a zip file; hand in one of these");
}

// This build tree under another name.
TEST_F(Submission, ABuildTreeMayHaveAnApostropheInItsName) {
  const fs::path build = fs::read_symlink("/proc/self/exe").parent_path().parent_path();
  fs::create_directory_symlink(build, here / "o'brien's");
  const judge::Lab lab{here / "o'brien's", JUDGE_ROOT, "labs/03_send_recv/send_recv.cpp"};
  EXPECT_FALSE(judge::kit_of(lab).compile.empty());
}

}  // namespace

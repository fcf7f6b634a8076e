#include "dist/core/whole_file.h"

#include <csignal>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <set>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/expect_error.h"

namespace dist::test {
namespace {

namespace fs = std::filesystem;

constexpr uid_t nobody = 65534;

class WholeFiles : public testing::Test {
 protected:
  WholeFiles() : folder(fs::temp_directory_path() / fmt::format("distlab-whole-{}", ::getpid())) {
    fs::create_directories(folder);
  }
  ~WholeFiles() override { fs::remove_all(folder); }

  fs::path file(const char* name) const { return folder / name; }
  void put(const char* name, mode_t mode) const {
    std::ofstream(file(name)) << "old";
    ASSERT_EQ(::chmod(file(name).c_str(), mode), 0);
  }
  std::set<std::string> names() const {
    std::set<std::string> all;
    for (const auto& entry : fs::directory_iterator(folder)) all.insert(entry.path().filename());
    return all;
  }
  void expect_refused(const fs::path& path, const char* why, Errc code = Errc::resource) const {
    const auto before = names();
    expect_error(code, {path.string(), why}, [&] { write_whole_file(path, "new"); });
    EXPECT_EQ(names(), before);
  }

  const fs::path folder;
};

std::string contents(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct stat status_of(const fs::path& path) {
  struct stat status {};
  EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
  return status;
}

mode_t mode_of(const fs::path& path) { return status_of(path).st_mode & 07777; }

// In a process of its own. Returns its exit status.
int in_child(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(WholeFiles, ARegularFileIsReplacedWithItsModeAndOwner) {
  const mode_t mask = ::umask(027);
  write_whole_file(file("new"), "text");
  ::umask(mask);
  EXPECT_EQ(mode_of(file("new")), 0640U);
  EXPECT_EQ(contents(file("new")), "text");
  for (const mode_t mode : {0600U, 0666U, 0200U, 0777U}) {
    put("old", mode);
    const auto before = status_of(file("old"));
    write_whole_file(file("old"), "new");
    EXPECT_EQ(mode_of(file("old")), mode);
    EXPECT_NE(status_of(file("old")).st_ino, before.st_ino);
    ASSERT_EQ(::chmod(file("old").c_str(), 0600), 0);
    EXPECT_EQ(contents(file("old")), "new");
  }
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(file("new").c_str(), nobody, nobody), 0);
    write_whole_file(file("new"), "other");
    EXPECT_EQ(status_of(file("new")).st_uid, nobody);
    EXPECT_EQ(status_of(file("new")).st_gid, nobody);
    EXPECT_EQ(mode_of(file("new")), 0640U);
  }
  EXPECT_EQ(names(), (std::set<std::string>{"new", "old"}));
}

TEST_F(WholeFiles, LinksAreFollowed) {
  fs::create_directory(file("sub"));
  put("target", 0600);
  fs::create_symlink("../target", file("sub/relative"));
  fs::create_symlink(file("sub/relative"), file("absolute"));
  fs::create_symlink("sub/fresh", file("dangling"));
  fs::create_symlink("itself", file("itself"));
  for (const char* const link : {"sub/relative", "absolute"}) {
    write_whole_file(file(link), link);
    EXPECT_TRUE(fs::is_symlink(file(link)));
    EXPECT_EQ(contents(file("target")), link);
    EXPECT_EQ(mode_of(file("target")), 0600U);
  }
  write_whole_file(file("dangling"), "made");
  EXPECT_TRUE(fs::is_symlink(file("dangling")));
  EXPECT_EQ(contents(file("sub/fresh")), "made");
  expect_refused(file("itself"), "Too many levels of symbolic links; name another file");
}

TEST_F(WholeFiles, PipesAndDevicesAreWrittenThrough) {
  ASSERT_EQ(::mkfifo(file("pipe").c_str(), 0600), 0);
  expect_refused(file("pipe"), "start the program that reads it first");
  const UniqueFd reader(::open(file("pipe").c_str(), O_RDONLY | O_NONBLOCK));
  write_whole_file(file("pipe"), "through");
  char heard[16] = {};
  EXPECT_EQ(::read(reader.get(), heard, sizeof heard), 7);
  EXPECT_STREQ(heard, "through");
  EXPECT_TRUE(S_ISFIFO(status_of(file("pipe")).st_mode));
  expect_error(Errc::resource, {"/dev/full", "No space left"}, [] { write_whole_file("/dev/full", "x"); });
  if (::mknod(file("null").c_str(), S_IFCHR | 0600, makedev(1, 3)) != 0) GTEST_SKIP() << "no devices here";
  fs::create_symlink("null", file("link"));
  for (const char* const name : {"null", "link"}) {
    const UniqueFd opened(::open(file(name).c_str(), O_WRONLY));
    if (!opened) GTEST_SKIP() << "devices cannot be opened here";
    WholeFile device(file(name));
    device.write(std::as_bytes(std::span("x")));
    device.finish(/*on_disk=*/true);
  }
  EXPECT_TRUE(S_ISCHR(status_of(file("null")).st_mode));
  EXPECT_TRUE(fs::is_symlink(file("link")));
}

// Behaves like /dev/stdout: the text comes after what the process has written there, and before what it
// writes later.
TEST_F(WholeFiles, AnOwnDescriptorIsWrittenAsItStands) {
  const UniqueFd own(::open(file("log").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(::write(own.get(), "a", 1), 1);
  fs::create_symlink(fmt::format("/proc/self/fd/{}", own.get()), file("link"));
  write_whole_file(fmt::format("/dev/fd/{}", own.get()), "b");
  write_whole_file(file("link"), "c");
  ASSERT_EQ(::write(own.get(), "d", 1), 1);
  EXPECT_EQ(contents(file("log")), "abcd");
}

TEST_F(WholeFiles, WhatCannotBeWrittenIsRefusedInOneLine) {
  put("readonly", 0444);
  expect_refused(file("readonly"), "is read-only (mode 0444); name another file, or: chmod u+w");
  EXPECT_EQ(contents(file("readonly")), "old");
  expect_refused(folder, "is a folder; name a file in it");
  expect_refused(file("missing/file"), "there is no folder");
  expect_refused(file("missing/"), "there is no such folder");
  expect_refused(file("readonly/file"), "Not a directory");
  expect_refused("", "the name of the file to write is empty", Errc::invalid_argument);
  EXPECT_DIST_ERROR(check_whole_file(file("missing/file")), Errc::resource, "make it: mkdir -p");
  EXPECT_DIST_ERROR(check_whole_file(file("readonly")), Errc::resource, "is read-only");
  check_whole_file(file("new"));
  EXPECT_EQ(names(), std::set<std::string>{"readonly"});
  EXPECT_NO_THROW(write_whole_file(file(std::string(255, 'x').c_str()), "a name as long as may be"));
}

TEST_F(WholeFiles, WhatCannotBeReplacedIsWrittenInPlace) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user and mount";
  put("shared", 0666);
  put("private", 0644);
  ASSERT_EQ(::chmod(folder.c_str(), 0777), 0);
  const auto as_nobody = [&](const char* name) {
    return in_child([&] {
      if (::setgid(nobody) != 0 || ::setuid(nobody) != 0) return 2;
      try {
        write_whole_file(file(name), "no one's");
      } catch (const Error&) {
        return 1;
      }
      return 0;
    });
  };
  EXPECT_EQ(as_nobody("shared"), 0);
  EXPECT_EQ(contents(file("shared")), "no one's");
  EXPECT_EQ(status_of(file("shared")).st_uid, 0U);
  EXPECT_EQ(as_nobody("private"), 1);
  EXPECT_EQ(contents(file("private")), "old");

  put("mounted", 0644);
  const int mounted = in_child([&] {
    const std::string from = file("shared"), at = file("mounted");
    if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount(from.c_str(), at.c_str(), nullptr, MS_BIND, nullptr) != 0)
      return 2;
    write_whole_file(at, "through a mount");
    return 0;
  });
  EXPECT_EQ(names(), (std::set<std::string>{"mounted", "private", "shared"}));
  if (mounted == 2) GTEST_SKIP() << "mounts are not permitted here";
  EXPECT_EQ(mounted, 0);
  EXPECT_EQ(contents(file("shared")), "through a mount");
}

// Whenever the writer is killed, one of its texts is there, complete; the next writer removes what the killed
// one has left.
TEST_F(WholeFiles, AKilledWriterLeavesTheOldFileOrTheNew) {
  const std::string texts[] = {std::string(300'000, 'a'), std::string(500'000, 'b')};
  write_whole_file(file("out"), texts[0]);
  std::minstd_rand random(1);
  std::size_t killed_amidst = 0;
  for (int round = 0; round < 40; ++round) {
    const pid_t writer = ::fork();
    if (writer == 0) {
      for (unsigned i = 0;; ++i) write_whole_file(file("out"), texts[i % 2]);
    }
    // Every other time, it waits until a new file is there, because on a busy machine the writer may not get
    // a core.
    for (int i = 0; round % 2 == 1 && i < 5000 && names().size() == 1; ++i) ::usleep(1000);
    ::usleep(random() % (round % 2 == 1 ? 100 : 4000));
    ::kill(writer, SIGKILL);
    ::waitpid(writer, nullptr, 0);
    killed_amidst += names().size() > 1;
    const std::string now = contents(file("out"));
    ASSERT_TRUE(now == texts[0] || now == texts[1]) << now.size() << " bytes in round " << round;
    if (round % 3 != 0) continue;
    write_whole_file(file("out"), texts[0]);
    ASSERT_EQ(names(), std::set<std::string>{"out"}) << "in round " << round;
  }
  EXPECT_GT(killed_amidst, 0U);
}

TEST_F(WholeFiles, ALiveWriterAndOthersFilesAreLeftAlone) {
  put("out.tmp", 0600);
  put("out.1-2.tmp.mine", 0600);
  put("out.1-x.tmp", 0600);
  put("out.1-2.tmp", 0600);  // as a writer that was killed would leave it
  WholeFile slow(file("out"));
  EXPECT_FALSE(fs::exists(file("out.1-2.tmp")));
  slow.write(std::as_bytes(std::span("slow", 4)));
  write_whole_file(file("out"), "quick");
  EXPECT_EQ(contents(file("out")), "quick");
  slow.finish(/*on_disk=*/true);
  EXPECT_EQ(contents(file("out")), "slow");
  { WholeFile never_finished(file("out")); }
  EXPECT_EQ(contents(file("out")), "slow");
  EXPECT_EQ(names(), (std::set<std::string>{"out", "out.tmp", "out.1-2.tmp.mine", "out.1-x.tmp"}));
}

}  // namespace
}  // namespace dist::test

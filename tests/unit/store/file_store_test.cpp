#include "dist/store/file_store.h"

#include <barrier>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/expect_error.h"
#include "unit/store/soon.h"

namespace dist::test {
namespace {

class FileStoreTest : public testing::Test {
 protected:
  const std::string path = testing::TempDir() + "distlab-file-" + std::to_string(getpid());
  FileStoreTest() { std::filesystem::remove(path); }
  ~FileStoreTest() override { std::filesystem::remove_all(path); }
  void append(const std::string& bytes) { std::ofstream(path, std::ios::app | std::ios::binary) << bytes; }
  auto size() const { return std::filesystem::file_size(path); }
  bool exists() const { return std::filesystem::exists(path); }
};

TEST_F(FileStoreTest, KeepsItsDataBetweenHandles) {
  make_file_store(path)->set("a", "1");
  EXPECT_EQ(make_file_store(path)->get_text("a", soon()), "1");
  EXPECT_TRUE(exists());
}

TEST_F(FileStoreTest, AnEmptyFileIsTakenOver) {
  append("");
  EXPECT_EQ(make_file_store(path)->add("n", 1), 1);
}

// What is left when a writer was killed in the middle of its append: any proper prefix of a record.
TEST_F(FileStoreTest, ATornTailIsIgnoredAndCutOffByTheNextWriter) {
  auto store = make_file_store(path);
  store->set("a", "1");
  const auto whole = size();
  store->set("torn", "never seen");
  std::string record(size() - whole, '\0');
  std::ifstream in(path, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(whole))
      .read(record.data(), static_cast<std::streamsize>(record.size()));
  for (std::size_t kept = 1; kept < record.size(); ++kept) {
    std::filesystem::resize_file(path, whole);
    append(record.substr(0, kept));
    auto reader = make_file_store(path);
    const std::string torn[]{"torn"};
    EXPECT_FALSE(reader->check(torn)) << kept;
    EXPECT_EQ(reader->get_text("a", soon()), "1");
    auto writer = make_file_store(path);
    writer->set("b", std::to_string(kept));
    EXPECT_EQ(reader->get_text("b", soon()), std::to_string(kept));
    EXPECT_FALSE(reader->check(torn)) << kept;
  }
}

TEST_F(FileStoreTest, ATornHeaderIsRepaired) {
  append("distlab st");
  EXPECT_EQ(make_file_store(path)->add("n", 1), 1);
  EXPECT_EQ(make_file_store(path)->add("n", 1), 2);
}

TEST_F(FileStoreTest, AForeignFileIsLeftAloneAndNamed) {
  append("my thesis, chapter one");
  expect_error(Errc::connection, {path, "not a distlab store"}, [&] { make_file_store(path); });
  EXPECT_EQ(size(), 22u);
  std::filesystem::resize_file(path, 2);
  expect_error(Errc::connection, {path, "not a distlab store"}, [&] { make_file_store(path); });
}

TEST_F(FileStoreTest, PathsThatCannotBeAStoreAreNamed) {
  std::filesystem::create_directory(path);
  expect_error(Errc::connection, {path, "directory"}, [&] { make_file_store(path); });
  expect_error(Errc::connection, {path + "/no/store", "No such file"},
               [&] { make_file_store(path + "/no/store"); });
  const std::string fifo = path + "/fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  expect_error(Errc::connection, {fifo, "not a regular file"}, [&] { make_file_store(fifo); });
}

TEST_F(FileStoreTest, DamageIsSaidNotRead) {
  auto store = make_file_store(path);
  const auto start = size();
  store->set("key", "a value of some length");
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-3, std::ios::end).put('X');
  file.close();
  expect_error(Errc::connection,
               {path, "damaged at byte " + std::to_string(start),
                "remove it (rm " + path + ") and start all ranks again"},
               [&] { make_file_store(path)->num_keys(); });
  std::filesystem::resize_file(path, start - 1);
  expect_error(Errc::connection, {path, "damaged"}, [&] { store->num_keys(); });
}

TEST_F(FileStoreTest, RemovalUnderTheUsersFeetIsAnError) {
  auto store = make_file_store(path);
  store->set("a", "1");
  std::filesystem::remove(path);
  expect_error(Errc::connection, {path, "removed while in use; start all ranks again"},
               [&] { store->set("b", "2"); });
  expect_error(Errc::connection, {path, "removed"}, [&] { store->get("b", soon()); });
}

TEST_F(FileStoreTest, TheLastUserRemovesTheFile) {
  auto a = make_file_store(path, 3), b = make_file_store(path, 3), c = make_file_store(path, 3);
  b.reset();
  a.reset();
  EXPECT_TRUE(exists());
  EXPECT_EQ(c->add("n", 1), 1);
  c.reset();
  EXPECT_FALSE(exists());
}

TEST_F(FileStoreTest, ALinkIsFollowedAndStays) {
  const std::string link = path + ".link";
  for (const bool dangling : {true, false}) {
    if (!dangling) std::ofstream{path};
    std::filesystem::create_symlink(std::filesystem::path(path).filename(), link);
    auto a = make_file_store(link, 2), b = make_file_store(path, 2);
    a->set("key", "value");
    EXPECT_EQ(b->get_text("key", soon()), "value");
    b.reset();
    a.reset();
    EXPECT_FALSE(exists());
    EXPECT_TRUE(std::filesystem::is_symlink(link));
    std::filesystem::remove(link);
  }
}

TEST_F(FileStoreTest, AUserThatComesBackKeepsTheFileForTheOthers) {
  auto a = make_file_store(path, 2), b = make_file_store(path, 2);
  a.reset();
  a = make_file_store(path, 2);  // joins again before b has left
  b.reset();
  EXPECT_TRUE(exists());
  b = make_file_store(path, 2);
  a->set("key", "value");
  EXPECT_EQ(b->get_text("key", soon()), "value");
  a.reset();
  b.reset();
  EXPECT_FALSE(exists());
}

TEST_F(FileStoreTest, AFullDiskIsAnErrorAndTheStoreStaysWhole) {
  auto store = make_file_store(path);
  store->set("a", "1");
  rlimit before{}, small{};
  getrlimit(RLIMIT_FSIZE, &before);
  small = {static_cast<rlim_t>(size()) + 100, before.rlim_max};
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  expect_error(Errc::resource, {path, "cannot be written: File too large; free some space"},
               [&] { store->set("big", std::string(1000, 'x')); });
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  store->set("b", "2");
  EXPECT_EQ(make_file_store(path)->num_keys(), 2);
}

TEST_F(FileStoreTest, WritersKilledAtAnyMomentLeaveAUsableStore) {
  for (int round = 0; round < 20; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      auto own = make_file_store(path);
      const std::string filler(20'000, 'x');
      for (;;) {
        own->set("filler", filler);
        own->add("n", 1);
      }
    }
    std::this_thread::sleep_for(std::chrono::microseconds(3000 + 700 * round));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    auto store = make_file_store(path);
    const auto n = store->add("n", 1);
    EXPECT_EQ(make_file_store(path)->get_text("n", soon()), std::to_string(n));
  }
}

// A user of the file in a process of its own, which is killed once it has written `key`.
void kill_a_user(const std::string& path, int expected_users, const std::string& key) {
  const pid_t child = fork();
  if (child == 0) {
    auto own = make_file_store(path, expected_users);
    own->set(key, "from the killed one");
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
}

TEST_F(FileStoreTest, WhatUsersWhoGaveUpLeftBehindIsBegunAnew) {
  make_file_store(path, 2)->set("a", "1");
  ASSERT_TRUE(exists()) << "the second may come yet";
  auto store = make_file_store(path, 2), other = make_file_store(path, 2);
  EXPECT_EQ(store->num_keys(), 0);
  other.reset();
  other = make_file_store(path, 2);
  store->set("b", "2");
  EXPECT_EQ(other->get_text("b", soon()), "2");
}

TEST_F(FileStoreTest, WhatAKilledJobLeftBehindIsBegunAnew) {
  kill_a_user(path, 2, "a");
  ASSERT_TRUE(exists());
  auto store = make_file_store(path, 2), other = make_file_store(path, 2);
  EXPECT_EQ(store->num_keys(), 0);
  store->set("b", "2");
  EXPECT_EQ(other->get_text("b", soon()), "2");
  store.reset();
  other.reset();
  EXPECT_FALSE(exists());
}

TEST_F(FileStoreTest, TwoThatOpenItInTheSameMomentBeginItAnew) {
  kill_a_user(path, 2, "a");
  std::filesystem::rename(path, path + ".left");
  for (int round = 0; round < 500; ++round) {
    std::filesystem::copy_file(path + ".left", path);
    std::barrier both(2);
    const auto open = [&] { return both.arrive_and_wait(), make_file_store(path, 2); };
    std::shared_ptr<Store> store, other;
    std::thread thread([&] { other = open(); });
    store = open();
    thread.join();
    ASSERT_EQ(store->num_keys() + other->num_keys(), 0) << "round " << round;
  }
  std::filesystem::remove(path + ".left");
}

TEST_F(FileStoreTest, TheLastSurvivorRemovesTheFile) {
  auto a = make_file_store(path, 3), b = make_file_store(path, 3);
  kill_a_user(path, 3, "c");
  EXPECT_EQ(a->get_text("c", soon()), "from the killed one");
  a.reset();
  ASSERT_TRUE(exists());
  EXPECT_EQ(b->num_keys(), 1);
  b.reset();
  EXPECT_FALSE(exists());
}

TEST_F(FileStoreTest, OneThatComesAfterADeathStillSeesWhatTheLivingKnow) {
  auto a = make_file_store(path, 3);
  kill_a_user(path, 3, "c");
  auto b = make_file_store(path, 3);
  EXPECT_EQ(b->get_text("c", soon()), "from the killed one");
}

TEST_F(FileStoreTest, AForkedChildIsTurnedAway) {
  auto store = make_file_store(path, 1);
  const pid_t child = fork();
  if (child == 0) {
    try {
      store->add("n", 1);
    } catch (const Error& error) {
      store.reset();
      _exit(error.code() == Errc::invalid_argument ? 0 : 1);
    }
    _exit(2);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(store->add("n", 1), 1);
  store.reset();
  EXPECT_FALSE(exists());
}

}  // namespace
}  // namespace dist::test

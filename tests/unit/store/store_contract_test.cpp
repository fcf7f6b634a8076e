// What every store promises, on every store.
#include <atomic>
#include <mutex>
#include <set>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include "dist/store/file_store.h"
#include "dist/store/memory_store.h"
#include "dist/store/tcp_store.h"

#include "support/expect_error.h"
#include "unit/store/soon.h"

namespace dist::test {
namespace {

using namespace std::chrono_literals;

// One store, with handles for as many users as a test wants.
class Fixture {
 public:
  virtual ~Fixture() = default;
  virtual std::shared_ptr<Store> handle() = 0;
};

struct Memory : Fixture {
  std::shared_ptr<Store> store = make_memory_store();
  std::shared_ptr<Store> handle() override { return store; }
};

struct File : Fixture {
  std::string path = testing::TempDir() + "distlab-store-" + std::to_string(getpid());
  File() { unlink(path.c_str()); }
  ~File() override { unlink(path.c_str()); }
  std::shared_ptr<Store> handle() override { return make_file_store(path); }
};

struct Tcp : Fixture {
  StoreServer server;
  explicit Tcp(const std::string& address) : server(address, "secret") {}
  std::shared_ptr<Store> handle() override { return make_tcp_store(server.address(), "secret", soon()); }
};

struct Prefixed : Fixture {
  std::shared_ptr<Store> store = make_memory_store();
  std::shared_ptr<Store> handle() override { return std::make_shared<PrefixStore>("job", store); }
};

struct Kind {
  const char* name;
  std::unique_ptr<Fixture> (*make)();
};

class StoreContract : public testing::TestWithParam<Kind> {
 protected:
  std::unique_ptr<Fixture> fixture = GetParam().make();
  std::shared_ptr<Store> store = fixture->handle();
};

TEST_P(StoreContract, ReturnsWhatWasSet) {
  store->set("a", "one");
  EXPECT_EQ(store->get_text("a", soon()), "one");
  store->set("a", "two");
  EXPECT_EQ(store->get_text("a", soon()), "two");
}

TEST_P(StoreContract, KeepsEmptyBinaryAndLargeValues) {
  store->set("empty", "");
  EXPECT_TRUE(store->get("empty", soon()).empty());
  const std::string odd_key("k\0/\n\xff", 5);
  Bytes all_bytes(256);
  for (int i = 0; i < 256; ++i) all_bytes[static_cast<std::size_t>(i)] = static_cast<std::byte>(i);
  store->set(odd_key, all_bytes);
  EXPECT_EQ(store->get(odd_key, soon()), all_bytes);
  const Bytes large(300'000, std::byte{7});
  store->set("", large);  // the empty key is a key too
  EXPECT_EQ(fixture->handle()->get("", soon()), large);
}

TEST_P(StoreContract, CountsKeysAndRemovesThem) {
  const auto before = store->num_keys();
  store->set("a", "1");
  store->add("b", 1);
  EXPECT_EQ(store->num_keys(), before + 2);
  EXPECT_TRUE(store->remove("a"));
  EXPECT_FALSE(store->remove("a"));
  EXPECT_EQ(store->num_keys(), before + 1);
  const std::string a[]{"a"}, b[]{"b"}, both[]{"b", "a"};
  EXPECT_FALSE(store->check(a));
  EXPECT_TRUE(store->check(b));
  EXPECT_FALSE(store->check(both));
  EXPECT_TRUE(store->check({}));
}

TEST_P(StoreContract, GetsAndSetsManyAtOnce) {
  const std::vector<std::string> keys{"b", "", "a", "b"}, none;
  store->multi_set(std::vector<std::string>{"a", "b", ""},
                   std::vector{to_bytes("1"), to_bytes("22"), Bytes{}});
  EXPECT_EQ(store->multi_get(keys, soon()),
            (std::vector{to_bytes("22"), Bytes{}, to_bytes("1"), to_bytes("22")}));
  EXPECT_TRUE(store->multi_get(none, soon()).empty());
  std::thread later([other = fixture->handle()] {
    std::this_thread::sleep_for(20ms);
    other->set("late", "3");
  });
  const std::vector<std::string> waits{"late", "a"};
  EXPECT_EQ(store->multi_get(waits, soon()), (std::vector{to_bytes("3"), to_bytes("1")}));
  later.join();
  const std::vector<std::string> missing{"a", "never"};
  expect_error(Errc::timeout, {"never'"}, [&] { store->multi_get(missing, Deadline::after(10ms)); });
  expect_error(Errc::invalid_argument, {"2 keys and 0 values"}, [&] { store->multi_set(missing, {}); });
}

TEST_P(StoreContract, AddsUpAndDown) {
  EXPECT_EQ(store->add("n", 5), 5);
  EXPECT_EQ(store->add("n", 0), 5);
  EXPECT_EQ(store->add("n", -7), -2);
  EXPECT_EQ(store->get_text("n", soon()), "-2");
  store->set("n", "40");
  EXPECT_EQ(store->add("n", 2), 42);
}

TEST_P(StoreContract, RefusesToAddToWhatIsNoNumber) {
  for (const char* value : {"", "x", "12x", " 1", "1e3", "99999999999999999999"}) {
    store->set("word", value);
    expect_error(Errc::invalid_argument, {"word'", "not a number"}, [&] { store->add("word", 1); });
    EXPECT_EQ(store->get_text("word", soon()), value);
  }
  store->set("big", std::to_string(INT64_MAX));
  expect_error(Errc::invalid_argument, {"big'", "overflows"}, [&] { store->add("big", 1); });
}

TEST_P(StoreContract, ComparesThenSets) {
  auto compare_set = [&](const char* expected, const char* desired) {
    return to_string(store->compare_set("c", to_bytes(expected), to_bytes(desired)));
  };
  EXPECT_EQ(compare_set("x", "y"), "");  // absent, and something was expected
  EXPECT_EQ(compare_set("", "first"), "first");
  EXPECT_EQ(compare_set("", "second"), "first");
  EXPECT_EQ(compare_set("first", "third"), "third");
  EXPECT_EQ(compare_set("third", ""), "");
  EXPECT_EQ(compare_set("", "again"), "again");
}

TEST_P(StoreContract, AppendsBytes) {
  std::thread waiter([other = fixture->handle()] { EXPECT_EQ(other->get_text("log", soon()), "one"); });
  std::this_thread::sleep_for(10ms);
  store->append("log", "one");
  waiter.join();
  store->append("log", "");
  const Bytes odd{std::byte{0}, std::byte{255}};
  fixture->handle()->append("log", odd);
  Bytes whole = to_bytes("one");
  whole.insert(whole.end(), odd.begin(), odd.end());
  EXPECT_EQ(store->get("log", soon()), whole);
  EXPECT_EQ(fixture->handle()->get("log", soon()), whole);
}

TEST_P(StoreContract, ManyUsersAppendTheSameWithoutLoss) {
  constexpr int users = 5, rounds = 20;
  std::vector<std::thread> threads;
  for (int u = 0; u < users; ++u) {
    threads.emplace_back([own = u % 2 ? fixture->handle() : store] {
      for (int i = 0; i < rounds; ++i) own->append("same", "ab");
    });
  }
  for (auto& thread : threads) thread.join();
  std::string all;
  for (int i = 0; i < users * rounds; ++i) all += "ab";
  EXPECT_EQ(store->get_text("same", soon()), all);
}

TEST_P(StoreContract, WaitsForAKeyThatComesLater) {
  std::thread setter([other = fixture->handle()] {
    std::this_thread::sleep_for(30ms);
    other->set("late", "here");
  });
  EXPECT_EQ(store->get_text("late", soon()), "here");
  setter.join();
}

TEST_P(StoreContract, WaitsForAllKeysInAnyOrder) {
  std::thread setter([other = fixture->handle()] {
    for (const char* key : {"w2", "w0", "w1"}) {
      std::this_thread::sleep_for(5ms);
      other->set(key, "");
    }
  });
  const std::string keys[]{"w0", "w1", "w2", "w0"};
  store->wait(keys, soon());
  EXPECT_TRUE(store->check(keys));
  store->wait({}, Deadline::after(0s));
  setter.join();
}

TEST_P(StoreContract, ATimeoutNamesTheMissingKeysAndTheTime) {
  store->set("present", "");
  const auto start = Deadline::Clock::now();
  const std::string keys[]{"present", "absent", "gone"};
  const auto text = expect_error(Errc::timeout, {"absent", "gone", "waited", "ms"},
                                 [&] { store->wait(keys, Deadline::after(60ms)); });
  EXPECT_EQ(text.find("present'"), std::string::npos) << text;
  EXPECT_GE(Deadline::Clock::now() - start, 60ms);
  EXPECT_LT(Deadline::Clock::now() - start, 5s);
  expect_error(Errc::timeout, {"absent'", store->where()},
               [&] { store->get("absent", Deadline::after(1ms)); });
}

TEST_P(StoreContract, APassedDeadlineStillFindsWhatIsThere) {
  store->set("a", "1");
  EXPECT_EQ(store->get_text("a", Deadline::after(0s)), "1");
  expect_error(Errc::timeout, {"b'"}, [&] { store->get("b", Deadline::after(0s)); });
}

TEST_P(StoreContract, ManyUsersAddWithoutLoss) {
  constexpr int users = 5, rounds = 40;
  std::vector<std::thread> threads;
  for (int u = 0; u < users; ++u) {
    threads.emplace_back([own = u % 2 ? fixture->handle() : store] {
      for (int i = 0; i < rounds; ++i) own->add("sum", 1);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(store->get_text("sum", soon()), std::to_string(users * rounds));
}

TEST_P(StoreContract, OnlyOneWinsCompareSet) {
  std::atomic<int> winners = 0;
  std::vector<std::thread> threads;
  for (int u = 0; u < 8; ++u) {
    threads.emplace_back([&, u, own = fixture->handle()] {
      const Bytes mine = to_bytes(std::to_string(u));
      if (own->compare_set("leader", {}, mine) == mine) ++winners;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(winners, 1);
}

TEST_P(StoreContract, ABlockedGetHoldsUpNobodyOnTheSameHandle) {
  std::vector<std::thread> blocked;
  for (int i = 0; i < 3; ++i) {
    blocked.emplace_back([&] { EXPECT_EQ(store->get_text("release", soon()), "now"); });
  }
  std::this_thread::sleep_for(20ms);
  const auto start = Deadline::Clock::now();
  store->set("x", "1");
  EXPECT_EQ(store->add("y", 1), 1);
  EXPECT_EQ(store->get_text("x", soon()), "1");
  EXPECT_LT(Deadline::Clock::now() - start, 5s);
  store->set("release", "now");
  for (auto& thread : blocked) thread.join();
}

TEST_P(StoreContract, ABarrierOfTurnsRunsThrough) {
  constexpr int users = 4, rounds = 10;
  std::vector<std::thread> threads;
  for (int u = 0; u < users; ++u) {
    threads.emplace_back([own = fixture->handle()] {
      for (int round = 0; round < rounds; ++round) {
        const std::string name = "round" + std::to_string(round);
        if (own->add(name + "/count", 1) == users) own->set(name + "/go", "");
        own->get(name + "/go", soon());
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(store->get_text("round9/count", soon()), "4");
}

TEST_P(StoreContract, QueuesAreFirstInFirstOut) {
  store->queue_push("q", "one");
  store->queue_push("q", "");
  EXPECT_EQ(store->queue_len("q"), 2);
  EXPECT_EQ(to_string(store->queue_pop("q", soon())), "one");
  EXPECT_EQ(to_string(store->queue_pop("q", soon())), "");
  EXPECT_EQ(store->queue_len("q"), 0);
  expect_error(Errc::timeout, {"q/"}, [&] { store->queue_pop("q", Deadline::after(20ms)); });
  EXPECT_EQ(store->queue_len("q"), 0);
  store->queue_push("q", "later");  // not for the pop that gave up
  EXPECT_EQ(store->queue_len("q"), 1);
  EXPECT_EQ(to_string(store->queue_pop("q", soon())), "later");
}

TEST_P(StoreContract, NoValueOfAQueueIsLostOrTakenTwice) {
  constexpr int values = 40;
  std::mutex mutex;
  std::multiset<std::string> taken;
  std::vector<std::thread> threads;
  for (int u = 0; u < 2; ++u) {
    threads.emplace_back([&, u, own = fixture->handle()] {
      for (int i = u; i < values; i += 2) own->queue_push("q", std::to_string(i));
    });
    threads.emplace_back([&, own = fixture->handle()] {
      while (true) {
        try {
          const std::string value = to_string(own->queue_pop("q", Deadline::after(2ms)));
          const std::lock_guard lock(mutex);
          taken.insert(value);
        } catch (const Error& error) {
          if (error.code() != Errc::timeout) throw;
        }
        const std::lock_guard lock(mutex);
        if (taken.size() == values) return;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ((std::set<std::string>(taken.begin(), taken.end()).size()), static_cast<std::size_t>(values));
}

template <class T>
std::unique_ptr<Fixture> made() {
  return std::make_unique<T>();
}

INSTANTIATE_TEST_SUITE_P(
    All, StoreContract,
    testing::Values(Kind{"memory", made<Memory>}, Kind{"file", made<File>}, Kind{"prefix", made<Prefixed>},
                    Kind{"tcp4", [] { return std::unique_ptr<Fixture>(new Tcp("tcp://127.0.0.1:0")); }},
                    Kind{"tcp6", [] { return std::unique_ptr<Fixture>(new Tcp("tcp://[::1]:0")); }},
                    Kind{"tcp_name", [] { return std::unique_ptr<Fixture>(new Tcp("tcp://localhost:0")); }},
                    Kind{"tcp_wildcard", [] { return std::unique_ptr<Fixture>(new Tcp("tcp://0.0.0.0:0")); }},
                    Kind{"unix_socket",
                         [] {
                           const auto name = "unix://@distlab-contract-" + std::to_string(getpid());
                           return std::unique_ptr<Fixture>(new Tcp(name));
                         }}),
    [](const auto& kind) { return kind.param.name; });

TEST(PrefixStore, JobsThatShareAStoreDoNotMeet) {
  auto inner = make_memory_store();
  PrefixStore one("one", inner), two("two", inner);
  one.set("key", "1");
  two.set("key", "2");
  EXPECT_EQ(one.get_text("key", soon()), "1");
  EXPECT_EQ(two.get_text("key", soon()), "2");
  EXPECT_EQ(inner->get_text("one/key", soon()), "1");
  EXPECT_EQ(one.num_keys(), 2);  // of the whole store
  EXPECT_TRUE(one.remove("key"));
  const std::string key[]{"key"};
  EXPECT_TRUE(two.check(key));
  PrefixStore nested("b", std::make_shared<PrefixStore>("a", inner));
  nested.add("n", 3);
  EXPECT_EQ(inner->get_text("a/b/n", soon()), "3");
}

}  // namespace
}  // namespace dist::test

#include "distrun/output.h"

#include <array>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace {

using distrun::LineSink;
using distrun::Outlet;
using distrun::Tail;

// What an outlet writes to a pipe.
class Shown {
 public:
  Shown() {
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
    read_ = dist::UniqueFd(fds[0]);
    write_ = dist::UniqueFd(fds[1]);
    outlet_.emplace(write_.get());
  }
  Outlet& outlet() { return *outlet_; }
  LineSink sink(const std::string& prefix) { return LineSink({&*outlet_, prefix, {}, nullptr}); }
  std::string all() {
    std::string text;
    std::thread reader([&] {
      std::array<char, 65536> piece;
      for (ssize_t n; (n = read(read_.get(), piece.data(), piece.size())) > 0;) {
        text.append(piece.data(), static_cast<std::size_t>(n));
      }
    });
    outlet_->flush(dist::Deadline::never());
    write_.reset();
    reader.join();
    return text;
  }
  void close_reader() { read_.reset(); }

 private:
  dist::UniqueFd read_, write_;
  std::optional<Outlet> outlet_;
};

TEST(DistrunOutput, LinesOfTwoRanksNeverMix) {
  Shown shown;
  LineSink a = shown.sink("[0] "), b = shown.sink("[1] ");
  a.add("he");
  b.add("wor");
  a.add("llo\nsecond");
  b.add("ld\n");
  a.finish();
  EXPECT_EQ(shown.all(), "[0] hello\n[1] world\n[0] second\n");
}

void wait_until_due() { std::this_thread::sleep_for(LineSink::patience + std::chrono::milliseconds(1)); }

TEST(DistrunOutput, APromptIsShownAfterAMomentAndItsLineGoesOn) {
  Shown shown;
  LineSink a = shown.sink("[0] "), b = shown.sink("[1] ");
  EXPECT_TRUE(a.due().is_never());
  a.add("name? ");
  a.show_unfinished();  // too early
  EXPECT_FALSE(shown.outlet().is_waiting());
  wait_until_due();
  a.show_unfinished();
  a.show_unfinished();
  EXPECT_TRUE(a.due().is_never()) << "or the event loop would spin";
  a.add("got Ann\n");
  a.add("more? ");
  wait_until_due();
  a.show_unfinished();
  b.add("between\n");
  shown.outlet().say("a report");
  a.add("no\n");
  a.add("end");
  wait_until_due();
  a.show_unfinished();
  a.finish();
  a.finish();
  EXPECT_EQ(shown.all(), "[0] name? got Ann\n[0] more? \n[1] between\ndistrun: a report\n[0] no\n[0] end\n");
}

TEST(DistrunOutput, ABarKeepsItsPrefix) {
  Shown shown;
  LineSink a = shown.sink("[0] ");
  for (const char* part : {"1 of 3\r", "2 of 3\r", "3 of 3\r\nnext\r\n"}) {
    a.add(part);
    wait_until_due();
    a.show_unfinished();
  }
  EXPECT_EQ(shown.all(), "[0] 1 of 3\r[0] 2 of 3\r[0] 3 of 3\r\n[0] next\r\n");
}

TEST(DistrunOutput, ACharacterIsNeverTorn) {
  for (const std::string character : {"é", "界", "🙂"}) {
    for (std::size_t cut = 1; cut < character.size(); ++cut) {
      Shown shown;
      LineSink a = shown.sink("[0] "), b = shown.sink("[1] ");
      a.add("x" + character.substr(0, cut));
      wait_until_due();
      a.show_unfinished();
      b.add("between\n");
      a.add(character.substr(cut) + "\n");
      EXPECT_EQ(shown.all(), "[0] x\n[1] between\n[0] " + character + "\n");
    }
    Shown shown;
    LineSink a = shown.sink("");
    const std::string odd(((std::size_t{1} << 20) - 1), 'b');
    a.add(odd + character.substr(0, 1));
    a.add(character.substr(1) + "\n");
    EXPECT_EQ(shown.all(), odd + "\n" + character + "\n");
  }
  Shown shown;
  LineSink a = shown.sink("");
  a.add("\xff\x80\x80\x80");  // not UTF-8 at all: shown as it is
  wait_until_due();
  a.show_unfinished();
  EXPECT_TRUE(shown.outlet().is_waiting());
}

TEST(DistrunOutput, EmptyLinesAndNothing) {
  Shown shown;
  LineSink a = shown.sink("[0] ");
  a.add("");
  a.add("\n\nx\n");
  a.finish();
  EXPECT_EQ(shown.all(), "[0] \n[0] \n[0] x\n");
}

TEST(DistrunOutput, BytesPassUnchanged) {
  Shown shown;
  std::string bytes;
  for (int i = 0; i < 256; ++i) {
    if (i != '\n') bytes.push_back(static_cast<char>(i));
  }
  LineSink a = shown.sink("");
  for (const char c : bytes) a.add({&c, 1});
  a.add("\n");
  EXPECT_EQ(shown.all(), bytes + "\n");
}

TEST(DistrunOutput, LongLinesStayWholeUpToOneMebibyte) {
  Shown shown;
  const std::string fits(1000000, 'a'), breaks((std::size_t{1} << 20) + 5000, 'b');
  LineSink a = shown.sink("> ");
  for (std::size_t i = 0; i < fits.size(); i += 1000) a.add(fits.substr(i, 1000));
  a.add("\n");
  for (std::size_t i = 0; i < breaks.size(); i += 1000) a.add(breaks.substr(i, 1000));
  a.finish();
  const std::string text = shown.all();
  EXPECT_EQ(text.substr(0, fits.size() + 3), "> " + fits + "\n");
  EXPECT_EQ(std::count(text.begin(), text.end(), 'b'), static_cast<std::ptrdiff_t>(breaks.size()));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
}

TEST(DistrunOutput, ASlowReaderBlocksNobody) {
  Shown shown;
  LineSink a = shown.sink("");
  const std::string line(999, 'x');
  int lines = 0;
  for (; !shown.outlet().is_full(); ++lines) {
    a.add(line + "\n");
    shown.outlet().pump();  // the pipe is soon full: must return
  }
  EXPECT_TRUE(shown.outlet().is_waiting());
  EXPECT_EQ(shown.all().size(), static_cast<std::size_t>(lines) * 1000);
}

TEST(DistrunOutput, AReaderThatLeavesIsNoticed) {
  signal(SIGPIPE, SIG_IGN);
  Shown shown;
  shown.close_reader();
  shown.outlet().add("x\n");
  shown.outlet().pump();
  EXPECT_TRUE(shown.outlet().is_broken());
  EXPECT_FALSE(shown.outlet().is_full());
}

TEST(DistrunOutput, TailKeepsTheLastLines) {
  Tail tail;
  EXPECT_EQ(tail.last_lines(3), "");
  tail.add("one\n");
  EXPECT_EQ(tail.last_lines(3), "one");
  tail.add("two\nthree\nfour\n");
  EXPECT_EQ(tail.last_lines(2), "three\nfour");
  EXPECT_EQ(tail.last_lines(9), "one\ntwo\nthree\nfour");
  for (int i = 0; i < 10000; ++i) tail.add("filler line\n");
  tail.add("end");
  EXPECT_EQ(tail.last_lines(1), "end");
  EXPECT_EQ(tail.last_lines(2), "filler line\nend");
}

TEST(DistrunOutput, PrefixNamesTheRank) {
  EXPECT_EQ(distrun::line_prefix(3, false), "[3] ");
  EXPECT_NE(distrun::line_prefix(3, true).find("[3]"), std::string::npos);
  EXPECT_NE(distrun::line_prefix(3, true), distrun::line_prefix(4, true));
}

}  // namespace

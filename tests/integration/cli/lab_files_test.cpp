// distlab start, solution, submit, reset, list: in a checkout of our own with one lab.
#include <filesystem>

#include <gtest/gtest.h>

#include "dist/backend/auto_choice.h"

#include "distlab/process.h"
#include "small_checkout.h"

namespace {

namespace fs = std::filesystem;

using LabFiles = SmallCheckout;

TEST_F(LabFiles, StartNamesWhatToReadAndTheFirstThingToWrite) {
  const auto said = run({"start", "1"});
  EXPECT_TRUE(contains(said, "read   labs/01_first/README.md")) << said;
  EXPECT_TRUE(contains(said, "first  lab 01, part 1: f\n         labs/01_first/first.cpp:2\n")) << said;
}

TEST_F(LabFiles, StartSaysWhichLabsComeBefore) {
  EXPECT_FALSE(contains(run({"start", "1"}), "after"));
  write(
      "labs/01_first/README.md",
      "# Lab 01: first\n\n- **Prerequisites:** [Lab 02](../02_a/README.md) (a, see [b](../handbook/b.md)),\n"
      "  [Lab 07](../07_c/README.md).\n- **Prepares for:** [Lab 09](../09_d/README.md).\n");
  EXPECT_TRUE(contains(run({"start", "1"}), "  after  Labs 02, 07; you have not solved 02, 07\n"));
  write(".distlab/progress", "02_a 100 20 2026-11-21 20:31\n");
  EXPECT_TRUE(contains(run({"start", "1"}), "  after  Labs 02, 07; you have not solved 07\n"));
}

TEST_F(LabFiles, AnUnknownLabIsOneLine) {
  EXPECT_EQ(run({"start", "7"}, 2),
            "distlab: there is no lab \"7\"; ./distlab list shows all labs, with their numbers\n");
  EXPECT_EQ(run({"reset", "frist"}, 2), "distlab: there is no lab \"frist\"; did you mean \"first\"?\n");
}

TEST_F(LabFiles, TheSolutionIsForThoseWhoHaveOne) {
  EXPECT_TRUE(contains(run({"solution", "1"}, 1), "--spoil"));
  EXPECT_TRUE(contains(run({"solution", "1", "--spoil"}), "return 4"));
  write(".distlab/progress", "# lab best last when\n01_first 100 20 2026-11-21 20:31\nnonsense\n");
  EXPECT_TRUE(contains(run({"solution", "first"}), "return 4"));
  EXPECT_TRUE(contains(run({"list"}), "100 of 100"));
}

// The program that builds submissions, here a script, says this.
void let_the_judge_say(const fs::path& root, const std::string& json, int status) {
  const auto judge = root / "build/bin/judge_build";
  fs::create_directories(judge.parent_path());
  std::ofstream(judge) << "#!/bin/sh\necho '" << json << "'\nexit " << status << "\n";
  fs::permissions(judge, fs::perms::owner_all);
}

TEST_F(LabFiles, SubmitPacksExactlyTheFile) {
  let_the_judge_say(root, R"({"isolation": "bubblewrap"})", 0);
  write("labs/01_first/notes.txt", "mine");
  const auto zip = root / "hand in.zip";
  EXPECT_TRUE(contains(run({"submit", "1", "-o", zip}), "Something is not written yet"));
  const auto listed = distlab::run_captured({"cmake", "-E", "tar", "tf", zip});
  EXPECT_EQ(listed.output, file + "\n");
  EXPECT_TRUE(contains(run({"submit", "1", "-o", root / "nowhere/x.zip"}, 1), "there is no folder"));
}

TEST_F(LabFiles, SubmitRefusesWhatWouldBeRefusedLater) {
  let_the_judge_say(root, R"-({"refused": "first.cpp is not accepted: it uses f()", "log": ""})-", 1);
  const auto said = run({"submit", "1", "-o", root / "x.zip"}, 1);
  EXPECT_EQ(said, "first.cpp is not accepted: it uses f()\nNo zip file was made; fix this first.\n");
  EXPECT_FALSE(fs::exists(root / "x.zip"));
}

TEST_F(LabFiles, ASubmissionThatIsNotThereIsNobodysZeroPoints) {
  const auto said = run({"grade", "1", "--submission", root / "nowhere.zip"}, 3);
  EXPECT_TRUE(contains(said, "there is no file or folder")) << said;
  EXPECT_FALSE(contains(said, "Score")) << said;
  EXPECT_EQ(run({"grade", "1", "--submission", "/dev/zero"}, 3),
            "/dev/zero is a device or a pipe; hand in a file, a folder or a zip file\n");
}

TEST_F(LabFiles, AMissingFileIsPutBack) {
  const auto starter = read(file);
  fs::remove(root / file);
  EXPECT_TRUE(contains(run({"start", "1"}, 3), "to get the untouched file: ./distlab reset 1"));
  EXPECT_EQ(run({"reset", "1"}), file + " is the untouched file again\n");
  EXPECT_EQ(read(file), starter);
}

TEST_F(LabFiles, ALabIsNamedByNumberNameOrFolderAndNothingElse) {
  for (const std::string name : {"1", "01", "first", "fi", "01_first", "01_f", "01_first/", "labs/01_first/"})
    EXPECT_TRUE(contains(run({"start", name}), "labs/01_first/README.md")) << name;
  for (const std::string name : {"1x", "1o", "10", "0", "02_first", "labs", "/"}) run({"start", name}, 2);
}

TEST_F(LabFiles, LabZeroComesBeforeTheOthers) {
  write("labs/00_before/README.md", "# Lab 00: before\n");
  write("labs/00_before/before.cpp", "int g() { DIST_TODO(\"lab 00, part 1: g\"); }\n");
  write("labs/000/README.md", "# No lab\n");
  for (const std::string name : {"0", "00", "before", "labs/00_before/"})
    EXPECT_TRUE(contains(run({"start", name}), "labs/00_before/README.md")) << name;
  const auto listed = run({"list"});
  EXPECT_LT(listed.find("Lab 00: before"), listed.find("Lab 01: the first")) << listed;
  EXPECT_FALSE(contains(listed, "No lab")) << listed;
  EXPECT_TRUE(contains(run({}), "./distlab start 0   begin Lab 00: before\n"));
}

TEST_F(LabFiles, ResetKeepsWhatWasWritten) {
  const auto starter = read(file);
  write(file, "int f() { return 5; }\n");
  EXPECT_TRUE(contains(run({"reset", "1"}), ".distlab/first.cpp.1"));
  EXPECT_EQ(read(file), starter);
  EXPECT_EQ(read(".distlab/first.cpp.1"), "int f() { return 5; }\n");
  EXPECT_TRUE(contains(run({"reset", "1"}), "untouched"));
  write(".distlab/progress",
        "# lab best last when\n01_first 50 20 2026-11-21 20:31\n    failing Part1.f\n    part 1\n");
  write(file, "int f() { return 6; }\n");
  sh("git -c user.name=t -c user.email=t@t commit -qam mine");
  run({"reset", "1"});
  EXPECT_EQ(read(file), starter);
  EXPECT_EQ(read(".distlab/first.cpp.2"), "int f() { return 6; }\n");
  EXPECT_FALSE(contains(run({"list"}), "of 100")) << "of the file that was put away";
  EXPECT_FALSE(contains(read(".distlab/progress"), "failing"));
  EXPECT_TRUE(contains(read(".distlab/progress"), "50    0  not graded")) << read(".distlab/progress");
}

TEST_F(LabFiles, AHintIsBrokenToTheTerminalsWidth) {
  std::string paragraph;
  for (int i = 0; i < 60; ++i) paragraph += "word ";
  write("labs/01_first/hints/1.md", "# Lab 01, hints\n\n" + paragraph + "\n");
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"hint", "1", "--level", "1"}, std::vector<std::string>{"hint", "1"}}) {
    std::istringstream lines(run(arguments));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
  }
}

TEST_F(LabFiles, ResetWithoutAHistorySaysWhatToDo) {
  fs::remove_all(root / ".git");
  write(file, "int f() { return 5; }\n");
  EXPECT_TRUE(contains(run({"reset", "1"}, 3), "fresh clone"));
  EXPECT_EQ(read(file), "int f() { return 5; }\n");
}

// What the demo, here a script, finds in its environment.
class RunLab : public SmallCheckout {
 protected:
  void SetUp() override {
    SmallCheckout::SetUp();
    write("build/bin/lab_01_demo",
          "#!/bin/sh\necho \"device ${DIST_DEVICE:-any} backend ${DIST_BACKEND:-any}${*:+ $*}\"\n");
    fs::permissions(root / "build/bin/lab_01_demo", fs::perms::owner_all);
  }
};

TEST_F(RunLab, TellsItsRanksTheDeviceAndTheBackendAndTheirNumber) {
  EXPECT_EQ(run({"run", "1"}), "device any backend any\n");
  EXPECT_EQ(run({"run", "1", "--device", "cpu"}), "device cpu backend any\n");
  EXPECT_EQ(run({"run", "1", "--backend", "host"}), "device cpu backend host\n");
  EXPECT_EQ(run({"run", "--device", "cpu", "--backend", "host", "1"}), "device cpu backend host\n");
  EXPECT_EQ(run({"run", "1", "--nproc", "5"}), "device any backend any --nproc 5\n");
}

// A deadlock is reported at once. An option asks to wait longer.
TEST_F(RunLab, ItsRanksDoNotWaitForEver) {
  write("build/bin/lab_01_demo", "#!/bin/sh\necho \"$DIST_TIMEOUT $DIST_DEADLOCK_AFTER\"\n");
  EXPECT_EQ(run({"run", "1"}), "20 1\n");
  setenv("DIST_TIMEOUT", "300", 1);
  EXPECT_EQ(run({"run", "1"}), "300 1\n");
  unsetenv("DIST_TIMEOUT");
}

TEST_F(RunLab, AFindingFitsTheTerminal) {
  write("build/bin/lab_01_demo",
        "#!/bin/sh\necho '   rank 0: recv #0 (4 f32) from rank 1: it is stuck; D1 deadlock: 2 ranks wait "
        "for each "
        "other; rank 0: recv #0 (4 f32) at isend_irecv.cpp:14, waits for rank 1; fix: let one of them "
        "send first'\n");
  setenv("COLUMNS", "60", 1);
  EXPECT_EQ(run({"run", "1"}),
            "   rank 0: recv #0 (4 f32) from rank 1: it is stuck\n"
            "   D1 deadlock: 2 ranks wait for each other\n"
            "     rank 0: recv #0 (4 f32) at isend_irecv.cpp:14, waits\n"
            "     for rank 1\n"
            "     fix: let one of them send first\n");
  unsetenv("COLUMNS");
}

TEST_F(RunLab, RefusesWhatMakesNoSense) {
  EXPECT_EQ(run({"run", "1", "--device", "cuda", "--backend", "host"}, 2),
            "--backend host needs tensors on cpu; leave out --device cuda\n");
  EXPECT_EQ(run({"run", "1", "--device", "cpu", "--backend", "nccl"}, 2),
            "--backend nccl needs tensors on cuda; leave out --device cpu\n");
  run({"run", "1", "--device", "tpu"}, 2);
  run({"run", "1", "--backend", "foo"}, 2);
  run({"run", "1", "--nproc", "0"}, 2);
}

TEST_F(RunLab, ADeviceThatIsNotThereIsOneLine) {
  std::string why;
  if (dist::default_device(0, &why) != dist::cpu) {
    EXPECT_EQ(run({"run", "1", "--device", "cuda"}), "device cuda backend any\n");
    return;
  }
  EXPECT_EQ(run({"run", "1", "--device", "cuda"}, 3), "distlab: --device cuda: " + why + "\n");
}

}  // namespace

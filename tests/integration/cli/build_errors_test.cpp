// What a student sees of a build that failed. The logs in build_logs/ are those of g++ 12, clang++ 14 and ld.
#include "distlab/loop/build_errors.h"

#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include "distlab/loop/diagnostics.h"

namespace {

using distlab::loop::explain_errors, distlab::loop::explain_warnings, distlab::loop::Sources;

std::string log_named(const std::string& name) {
  std::ifstream file(std::string(CHECKOUT) + "/tests/integration/cli/build_logs/" + name + ".log");
  std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_FALSE(text.empty()) << name;
  return text;
}

// A checkout with two labs; `edited` is the text of both edited files.
Sources sources(const std::string& edited = "") {
  const std::string third = "labs/03_send_recv/send_recv", sixth = "labs/06_scatter_gather/scatter_gather";
  return {
      .root = "/home/student/distlab",
      .edited_files = {third + ".cpp", sixth + ".cpp"},
      .text_of = [=](const std::string& file) {
        if (file == sixth + ".h")
          return std::string("void gather(const dist::Tensor&);\nvoid tree_scatter(dist::Tensor& mine);\n");
        return file.ends_with(".cpp") ? edited : "";
      }};
}

std::string text_of(const distlab::loop::Explanation& told) {
  std::string text;
  for (const auto& line : told.lines) text += line + "\n";
  return text;
}

TEST(BuildErrors, TheErrorWithItsLineAndNoWarning) {
  EXPECT_EQ(text_of(explain_errors(log_named("missing_semicolon.gcc"), sources())),
            "labs/03_send_recv/send_recv.cpp:17:3: error: expected ‘,’ or ‘;’ before ‘if’\n"
            "   17 |   if (rank > 0) dist::recv(t, rank - 1);\n"
            "      |   ^~\n");
  EXPECT_EQ(text_of(explain_errors(log_named("missing_semicolon.clang"), sources())),
            "labs/03_send_recv/send_recv.cpp:16:36: error: expected ';' at end of declaration\n"
            "   16 |   const int rank = dist::get_rank()\n"
            "      |                                    ^\n"
            "      |                                    ;\n");
}

TEST(BuildErrors, ThreeAreEnoughAndTheOthersAreCounted) {
  for (const std::string compiler : {"gcc", "clang"}) {
    const auto told = explain_errors(log_named("five_errors." + compiler), sources());
    const auto text = text_of(told);
    EXPECT_TRUE(text.starts_with("labs/03_send_recv/send_recv.cpp:16:7: error: ")) << text;
    EXPECT_GE(told.more, 2) << compiler;
    EXPECT_EQ(text.find("note"), text.npos) << text;
    EXPECT_LE(told.lines.size(), 12U) << text;
  }
  const auto all = text_of(explain_errors(log_named("five_errors.gcc"), sources(), 100));
  EXPECT_NE(all.find("‘sned’ is not a member"), all.npos) << all;
  EXPECT_EQ(all.find("18:17"), all.npos) << "what was already said about line 16\n" << all;
  EXPECT_NE(all.find("lib/dist/group/process_group.h:111: declared here: Work send(const Tensor& t"),
            all.npos)
      << all;
}

TEST(BuildErrors, AnErrorInATemplateNamesTheLineThatUsesIt) {
  std::string edited;
  for (int line = 1; line < 39; ++line) edited += "//\n";
  edited += "  std::sort(path.begin(), path.end());\n";
  for (const std::string compiler : {"gcc", "clang"}) {
    const auto told = explain_errors(log_named("inside_a_template." + compiler), sources(edited));
    ASSERT_EQ(told.lines.size(), 3U) << text_of(told) << "no chain of instantiations, no candidates";
    EXPECT_TRUE(told.lines[0].starts_with("labs/03_send_recv/send_recv.cpp:39:")) << told.lines[0];
    EXPECT_NE(told.lines[0].find("_List_iterator<int>"), std::string::npos) << told.lines[0];
    EXPECT_EQ(told.lines[1], "   39 |   std::sort(path.begin(), path.end());");
    EXPECT_NE(told.lines[2].find("stl_algo.h:1938"), std::string::npos) << told.lines[2];
    EXPECT_EQ(told.more, 0);
  }
}

TEST(BuildErrors, AnOpenBraceNamesWhereItWasOpened) {
  for (const std::string compiler : {"gcc", "clang"}) {
    const auto text = text_of(explain_errors(log_named("open_brace." + compiler), sources()));
    EXPECT_NE(text.find("send_recv.cpp:11: to match this"), text.npos) << text;
    EXPECT_NE(text.find(": namespace lab {"), text.npos) << text;
  }
}

TEST(BuildErrors, AnotherSignatureNamesTheOneInTheHeader) {
  const std::string at = "/home/student/distlab/labs/03_send_recv/send_recv";
  const auto said = [&](const std::string& error, const std::string& note) {
    return text_of(explain_errors(at + ".cpp:26:8: error: " + error + "\n   26 | double f(float x) {\n" + at +
                                      ".h:38:7: note: " + note + "\n   38 | float f(float x);\n",
                                  sources()));
  };
  const auto gcc =
      said("ambiguating new declaration of ‘double lab::f(float)’", "old declaration ‘float lab::f(float)’");
  EXPECT_TRUE(
      gcc.ends_with("  labs/03_send_recv/send_recv.h:38: old declaration ‘float lab::f(float)’: float "
                    "f(float x);\n"))
      << gcc;
  const auto clang = said("functions that differ only in their return type cannot be overloaded",
                          "previous declaration is here");
  EXPECT_TRUE(clang.ends_with("send_recv.h:38: previous declaration is here: float f(float x);\n")) << clang;
}

TEST(BuildErrors, ATemporaryThatACallWritesToIsSaidInWords) {
  const auto told = explain_errors(
      "/home/student/distlab/labs/03_send_recv/send_recv.cpp:8:10: error: cannot bind non-const lvalue "
      "reference "
      "of type ‘dist::Tensor&’ to an rvalue of type ‘dist::Tensor’\n    8 |   dist::recv(t.narrow(0, 1), "
      "0);\n",
      sources());
  ASSERT_FALSE(told.lines.empty());
  EXPECT_EQ(told.lines.back(),
            "  this call writes to its argument: store the value in a variable first, and pass the variable");
}

TEST(BuildErrors, AMissingFunctionIsSaidInWords) {
  const auto edited = "// void gather(\nvoid gather(Tensor& mine) {\n  gather(mine);\n}\n";
  const auto text = text_of(explain_errors(log_named("undefined_reference.gcc"), sources(edited)));
  EXPECT_EQ(
      text,
      "lab::gather is declared in scatter_gather.h, but your file does not define it with this signature:\n"
      "    lab::gather(dist::Tensor const&, std::vector<dist::Tensor>&, int)\n"
      "  yours is labs/06_scatter_gather/scatter_gather.cpp:2: void gather(Tensor& mine)\n"
      "lab::tree_scatter is declared in scatter_gather.h, but your file does not define it with this "
      "signature:\n"
      "    lab::tree_scatter(dist::Tensor&, dist::Tensor const&, int)\n");
}

TEST(BuildErrors, AFunctionThatTwoLabsDeclareIsThatOfTheLabThatIsLinked) {
  auto both = sources();
  both.text_of = [](const std::string&) { return "void gather(int);\n"; };
  const auto text =
      text_of(explain_errors("/usr/bin/ld: labs/lab_06_demo.dir/a.o: in function `f':\na.cpp:4: undefined "
                             "reference to `lab::gather(int)'\n",
                             both));
  EXPECT_NE(text.find("declared in scatter_gather.h"), text.npos) << text;
}

TEST(BuildErrors, WhoseErrorsTheyAre) {
  EXPECT_TRUE(explain_errors(log_named("inside_a_template.gcc"), sources()).is_students);
  EXPECT_TRUE(explain_errors(log_named("undefined_reference.gcc"), sources()).is_students);
  EXPECT_FALSE(
      explain_errors("/home/student/distlab/lib/dist/a.cpp:3:1: error: no\n", sources()).is_students);
  EXPECT_FALSE(
      explain_errors("ninja: fatal: posix_spawn: Resource temporarily unavailable\n", sources()).is_students);
}

TEST(BuildErrors, OtherLinkersAndOtherTrouble) {
  EXPECT_EQ(text_of(explain_errors("ld.lld: error: undefined symbol: helper(int)\n>>> referenced by a.cpp\n",
                                   sources())),
            "helper(int) is declared and used, but not defined\n");
  const auto twice =
      text_of(explain_errors("/usr/bin/ld: b.o: in function `main':\nb.cpp:1: multiple definition of "
                             "`lab::f(int)'; a.o:a.cpp:1: first defined here\n",
                             sources()));
  EXPECT_EQ(twice, "lab::f(int) is defined twice; remove one of the definitions\n");
}

TEST(BuildErrors, ErrorsOfTheEditedFileComeFirst) {
  const auto log =
      "/home/student/distlab/lib/dist/a.cpp:3:1: error: of the library\n"
      "../../labs/06_scatter_gather/demo.cpp:4:1: error: of the demo\n"
      "../../labs/06_scatter_gather/scatter_gather.cpp:5:1: error: mine\n";
  const auto told = explain_errors(log, sources());
  ASSERT_EQ(told.lines.size(), 3U);
  EXPECT_EQ(told.lines[0], "labs/06_scatter_gather/scatter_gather.cpp:5:1: error: mine");
  EXPECT_EQ(told.lines[1], "lib/dist/a.cpp:3:1: error: of the library");
}

TEST(BuildErrors, AFileThatIsMissingIsAnError) {
  const auto text =
      text_of(explain_errors("/home/student/distlab/labs/03_send_recv/send_recv.cpp:8:10: fatal error: "
                             "mpi.h: No such file or directory\n"
                             "    8 | #include <mpi.h>\n      |          ^~~~~~~\ncompilation terminated.\n",
                             sources()));
  EXPECT_TRUE(text.starts_with("labs/03_send_recv/send_recv.cpp:8:10: error: mpi.h: No such")) << text;
  EXPECT_EQ(text.find("terminated"), text.npos) << text;
}

TEST(BuildErrors, LogsWithoutAnErrorHaveNoExplanation) {
  for (const std::string log :
       {"", "\n\n", "ninja: error: loading 'build.ninja': No such file or directory\n", "\033[1m",
        "g++: internal trouble", "a:b: error: no line number", ": error: no file\n"}) {
    EXPECT_TRUE(explain_errors(log, sources()).lines.empty()) << log;
  }
}

TEST(BuildErrors, MessagesOfAnyLengthAreCut) {
  const std::string type(5000, 'x');
  const auto told = explain_errors(
      "/home/student/distlab/labs/03_send_recv/send_recv.cpp:8:10: error: " + type + "\n", sources());
  ASSERT_EQ(told.lines.size(), 1U);
  EXPECT_LT(told.lines[0].size(), 400U);
  EXPECT_TRUE(told.lines[0].ends_with(" ..."));
}

TEST(BuildErrors, OfAMegabyteTheFirstErrorIsKept) {
  const std::string file = "/home/student/distlab/labs/03_send_recv/send_recv.cpp";
  const std::string long_line = "    8 | f(" + std::string(500'000, '1') + ");\n";
  std::string log = file + ":8:10: error: too many arguments\n" + long_line + "      | ^\n";
  while (log.size() < 1'000'000) log += file + ":9:1: error: another one\n" + long_line;
  log += "/usr/bin/ld: undefined reference to `lab::f(" + std::string(100'000, 'x') + ")'\n";
  const auto text = text_of(explain_errors(log, sources()));
  EXPECT_TRUE(text.starts_with("labs/03_send_recv/send_recv.cpp:8:10: error: too many arguments\n")) << text;
  EXPECT_LT(text.size(), 4000U);
}

TEST(BuildErrors, AFileInUtf16IsNamedAsSuch) {
  const auto in_utf16 = [](std::string_view text, bool little) {
    std::string wide;
    for (const char c : text) wide += little ? std::string{c, '\0'} : std::string{'\0', c};
    return wide;
  };
  const std::string log =
      "/home/student/distlab/labs/03_send_recv/send_recv.cpp:1:1: error: stray '\\377' in program\n";
  const std::string program = "// Lab 03\n#include \"send_recv.h\"\n";
  for (const auto& text : {"\xFF\xFE" + in_utf16(program, true), "\xFE\xFF" + in_utf16(program, false),
                           in_utf16(program, true), in_utf16(program, false)}) {
    const auto told = explain_errors(log, sources(text));
    EXPECT_EQ(text_of(told),
              "labs/03_send_recv/send_recv.cpp: error: the file is UTF-16; save it as UTF-8\n");
    EXPECT_TRUE(told.is_students);
  }
  for (const auto& text : {program, "\xEF\xBB\xBF" + program, std::string("\0", 1) + program})
    EXPECT_EQ(text_of(explain_errors(log, sources(text))).find("UTF-16"), std::string::npos);
}

TEST(BuildErrors, WarningsAreThoseOfTheEditedFile) {
  for (const std::string compiler : {"gcc", "clang"}) {
    const auto told = explain_warnings(log_named("warnings." + compiler), sources());
    ASSERT_EQ(told.lines.size(), 2U) << text_of(told);
    EXPECT_TRUE(told.lines[0].starts_with("labs/03_send_recv/send_recv.cpp:14:7: warning: unused variable"));
    EXPECT_TRUE(explain_errors(log_named("warnings." + compiler), sources()).lines.empty());
  }
}

}  // namespace

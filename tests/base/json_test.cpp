#include "barrio/base/json.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "barrio/base/version.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio {
namespace {

std::string file_with(const std::string& text) {
  const std::string path = test::scratch() / "read.json";
  std::ofstream(path) << text;
  return path;
}

/// Return the message of a failing read; a read that succeeds fails the test.
template <class Read>
Error refusal(Read&& read) {
  const Status status = capture(read);
  EXPECT_TRUE(status) << "the file was accepted";
  return status.value_or(Error(ErrorCode::ok, {.subject = "nothing", .cause = "is wrong"}));
}
Error refused(const std::string& text) {
  return refusal([&] { read_json_file(file_with(text)); });
}
Error refused_document(const std::string& text) {
  return refusal([&] { read_json_document(file_with(text), "barrio.test", 3); });
}

TEST(JsonDocument, TellsWhatMadeItInAFixedOrder) {
  const Json made = json_document("barrio.test", 3);
  std::vector<std::string> keys;
  for (const auto& item : made.items()) keys.push_back(item.key());
  EXPECT_EQ(keys, (std::vector<std::string>{"schema", "schema_version", "barrio", "commit", "compiler", "build", "host",
                                            "time"}));
  EXPECT_EQ(made["schema"], "barrio.test");
  EXPECT_EQ(made["schema_version"], 3);
  EXPECT_EQ(made["barrio"], version());
  EXPECT_FALSE(made["host"].get<std::string>().empty());
  EXPECT_TRUE(std::regex_match(made["time"].get<std::string>(),
                               std::regex("20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")));
}

TEST(JsonDocument, ReadsBackWhatWasWritten) {
  const std::string path = test::scratch() / "document.json";
  Json made = json_document("barrio.test", 3);
  made["answer"] = 42;
  write_file_atomically(path, made.dump());
  EXPECT_EQ(read_json_document(path, "barrio.test", 3), made);
  EXPECT_EQ(read_json_document(path, "barrio.test", 4), made) << "an older version is read";
}

TEST(JsonOfError, HasItsParts) {
  const Json made = to_json(Error(ErrorCode::bad_input, {.subject = "s", .cause = "c", .remedy = "r"}));
  EXPECT_EQ(made.dump(), R"({"code":3,"subject":"s","cause":"c","remedy":"r"})");
}

TEST(ReadJson, NamesThePlaceOfTheFirstMistake) {
  const Error error = refused("{\n  \"a\": 1,\n  \"b\": oops\n}");
  EXPECT_EQ(error.code(), ErrorCode::bad_input);
  EXPECT_EQ(error.subject(), test::scratch() / "read.json");
  EXPECT_NE(error.cause().find("is not JSON: "), std::string::npos) << error.cause();
  EXPECT_NE(error.cause().find("line 3, column 8"), std::string::npos) << error.cause();
}

TEST(ReadJson, RefusesWhatIsNoJson) {
  for (const std::string text : {"", "{\"a\": [1, 2", "{} {}", "\xff\xfe", "nan", "1e999", "[1,]"}) {
    const Error error = refused(text);
    EXPECT_EQ(error.code(), ErrorCode::bad_input) << text;
    EXPECT_EQ(error.cause().find("is not JSON: "), 0U) << text << ": " << error.cause();
  }
}

TEST(ReadJson, TellsAMissingFileFromAFolder) {
  const std::string missing = test::scratch() / "absent.json";
  const Error absent = refusal([&] { read_json_file(missing); });
  EXPECT_EQ(absent.code(), ErrorCode::failed);
  EXPECT_EQ(absent.what(), missing + ": cannot be read: No such file or directory (check the name)");
  const Error folder = refusal([] { read_json_file(test::scratch()); });
  EXPECT_EQ(folder.code(), ErrorCode::bad_input);
  EXPECT_EQ(folder.cause(), "is a folder, not a file");
}

TEST(ReadJsonDocument, RefusesAnotherSchema) {
  const Error other = refused_document(R"({"schema": "barrio.load", "schema_version": 1})");
  EXPECT_EQ(other.code(), ErrorCode::bad_input);
  EXPECT_EQ(other.cause(), "is a barrio.load, not a barrio.test");
  for (const std::string text : {"{}", "[]", "7", "null", R"({"schema": 7})", R"({"schema": null})"})
    EXPECT_EQ(refused_document(text).cause(), "has no schema; barrio.test was expected") << text;
}

TEST(ReadJsonDocument, RefusesAVersionItCannotKnow) {
  const Error newer = refused_document(R"({"schema": "barrio.test", "schema_version": 4})");
  EXPECT_EQ(newer.code(), ErrorCode::bad_input);
  EXPECT_EQ(newer.cause(), "has schema version 4, newer than 3");
  EXPECT_EQ(newer.remedy(), "use a newer barrio");
  for (const std::string version : {R"("4")", "null", "2.5", "[]"}) {
    EXPECT_EQ(refused_document(R"({"schema": "barrio.test", "schema_version": )" + version + "}").cause(),
              "has no schema version")
        << version;
  }
}

}  // namespace
}  // namespace barrio

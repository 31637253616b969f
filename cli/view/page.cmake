# The viewer's page: web/build.mjs makes it by esbuild, tools/embed.py puts it into the program. Without
# Node.js or its packages the program is built all the same, and `sinew view` says what is missing.
set(SN_PAGE_FOLDER ${PROJECT_BINARY_DIR}/web)
set(SN_PAGE_SOURCE ${PROJECT_BINARY_DIR}/web/page_files.c)
set(SN_PAGE_FILES)
foreach(name index.html viewer.js viewer.css favicon.svg)
  list(APPEND SN_PAGE_FILES ${SN_PAGE_FOLDER}/${name})
endforeach()
file(MAKE_DIRECTORY ${SN_PAGE_FOLDER})

find_package(Python3 REQUIRED COMPONENTS Interpreter)
find_program(SN_NODE NAMES node nodejs)
set(SN_PAGE_MISSING)
if(NOT SN_NODE)
  list(APPEND SN_PAGE_MISSING "Node.js (Debian: nodejs, npm)")
endif()
foreach(package esbuild three)
  # Looked for at every build: once it is there, the page is built without being told to.
  file(GLOB found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/node_modules/${package}/package.json)
  if(NOT found)
    list(APPEND SN_PAGE_MISSING "the npm package ${package}")
  endif()
endforeach()
file(GLOB_RECURSE SN_PAGE_INPUTS CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/web/*)
list(FILTER SN_PAGE_INPUTS EXCLUDE REGEX "/(tests|node_modules)/")
if(NOT EXISTS ${PROJECT_SOURCE_DIR}/web/build.mjs)
  list(APPEND SN_PAGE_MISSING "the folder web of the source")
endif()
list(JOIN SN_PAGE_MISSING ", " SN_PAGE_MISSING)

if(NOT SN_PAGE_MISSING)
  add_custom_command(OUTPUT ${SN_PAGE_FILES}
    COMMAND ${SN_NODE} web/build.mjs ${SN_PAGE_FOLDER}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} DEPENDS ${SN_PAGE_INPUTS}
    COMMENT "Building the viewer's page" VERBATIM)
  add_custom_command(OUTPUT ${SN_PAGE_SOURCE}
    COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/embed.py ${SN_PAGE_SOURCE} ${SN_PAGE_FILES}
    DEPENDS ${SN_PAGE_FILES} ${PROJECT_SOURCE_DIR}/tools/embed.py VERBATIM)
else()
  message(STATUS "sinew view will have no page; missing: ${SN_PAGE_MISSING}")
  add_custom_command(OUTPUT ${SN_PAGE_SOURCE}
    COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/embed.py ${SN_PAGE_SOURCE} --missing
      "this program was built without the viewer's page, for want of ${SN_PAGE_MISSING}; run tools/deps.sh, then make again"
    DEPENDS ${PROJECT_SOURCE_DIR}/tools/embed.py VERBATIM)
endif()

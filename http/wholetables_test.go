package http_test

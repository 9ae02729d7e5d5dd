"""The only place that knows AdmissionReview JSON, and how the API server makes a request of an object."""
